package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// grants holds the flags of show grants.
type grants struct {
	showing
	subtree bool
}

func newShowGrants() *cobra.Command {
	var g grants
	c := newShowing(&g.showing, state.Grants, "grants [KEY]",
		"Without KEY it lists the grants, with it prints one of them whole.\n\n"+
			"With --subtree it shows the grant KEY and all below it as a tree, or all grants without KEY. The figures of a\n"+
			"grant hold those of the grants below it; OWN is what was reserved and spent under the grant itself.",
		g.ask,
		"reducer show grants --contract onboarding",
		"reducer show grants office-card --subtree --contract onboarding")
	g.addFilters(c)
	c.Flags().BoolVar(&g.subtree, "subtree", false, "show the grant and all below it as a tree")
	return c
}

func (g *grants) ask(c *cobra.Command, key []string) error {
	if !g.subtree {
		return g.showing.ask(c, key)
	}
	return g.source.asking(c.Context(), func(reducer *client.Client) error {
		contract, err := g.only(c.Context(), reducer)
		if err != nil {
			return err
		}
		tree, err := readGrants(c.Context(), reducer, contract)
		if err != nil {
			return err
		}
		roots := tree.below[""]
		if len(key) > 0 {
			if _, ok := tree.grants[key[0]]; !ok {
				return fmt.Errorf("no grant %q in contract %q; list what there is: reducer show grants --contract %s", key[0], contract, contract)
			}
			roots = key[:1]
		}
		return tree.show(c, contract, roots)
	})
}

// grantFigures are the figures of one grant; all but the limit hold those of the
// grants below it.
type grantFigures struct {
	Grant       string         `json:"grant"`
	Parent      string         `json:"parent,omitempty"`
	Subject     string         `json:"subject"`
	Limit       schema.Decimal `json:"-"`
	Reserved    schema.Decimal `json:"-"`
	Spent       schema.Decimal `json:"-"`
	OwnReserved schema.Decimal `json:"-"`
	OwnSpent    schema.Decimal `json:"-"`
	Revoked     bool           `json:"revoked"`
	Expires     string         `json:"expiresAt"`
}

// remaining is what is left of the limit.
func (f *grantFigures) remaining() schema.Decimal { return f.Limit.SubFloor(f.Reserved.Add(f.Spent)) }

// grantTree is the grants of a contract.
type grantTree struct {
	grants map[string]*grantFigures
	below  map[string][]string // children of each, in the order of their ids; "" has the roots
}

// readGrants reads all grants, page by page, each page as of its own block.
func readGrants(ctx context.Context, reducer *client.Client, contract string) (*grantTree, error) {
	t := &grantTree{grants: map[string]*grantFigures{}, below: map[string][]string{}}
	for d, err := range reducer.Documents(ctx, contract, wire.ListRequest{Projection: state.Grants, Limit: wire.MaxPage}) {
		if err != nil {
			return nil, err
		}
		f, err := figuresOf(&d)
		if err != nil {
			return nil, fmt.Errorf("grant %q: %w", d.Key, err)
		}
		t.grants[f.Grant] = f
		t.below[f.Parent] = append(t.below[f.Parent], f.Grant)
	}
	for id, f := range t.grants {
		for _, child := range t.below[id] {
			f.OwnReserved = f.OwnReserved.SubFloor(t.grants[child].Reserved)
			f.OwnSpent = f.OwnSpent.SubFloor(t.grants[child].Spent)
		}
	}
	return t, nil
}

func figuresOf(d *wire.Document) (*grantFigures, error) {
	row, err := schema.ParseValue(d.Row)
	if err != nil {
		return nil, err
	}
	text := func(member string) string {
		value, _ := row.Member(member)
		is, _ := value.Str()
		return is
	}
	revoked, _ := row.Member("revoked")
	f := &grantFigures{Grant: d.Key, Parent: text("parentId"), Subject: text("subject"), Revoked: revoked == "true", Expires: text("expiresAt")}
	for _, figure := range []struct {
		member string
		into   *schema.Decimal
	}{{"limit", &f.Limit}, {"reserved", &f.Reserved}, {"spent", &f.Spent}, {"reserved", &f.OwnReserved}, {"spent", &f.OwnSpent}} {
		if *figure.into, err = schema.ParseDecimal(text(figure.member)); err != nil {
			return nil, fmt.Errorf("%s: %w", figure.member, err)
		}
	}
	return f, nil
}

// shownGrant is a grant of a tree as --json prints it: a line for each, a parent
// before what is below it.
type shownGrant struct {
	Contract string `json:"contract"`
	Depth    int    `json:"depth"` // below what was asked for
	*grantFigures
	Limit       string `json:"limit"`
	Reserved    string `json:"reserved"`
	Spent       string `json:"spent"`
	Remaining   string `json:"remaining"`
	OwnReserved string `json:"ownReserved"`
	OwnSpent    string `json:"ownSpent"`
}

// show prints the tree below each root, and what it is in all.
func (t *grantTree) show(c *cobra.Command, contract string, roots []string) error {
	table := ui.NewTable("grant", "subject", "max#", "reserved#", "spent#", "remaining#", "own reserved#", "own spent#", "revoked", "expires")
	var reserved, spent schema.Decimal
	count := 0
	type place struct {
		id    string
		depth int
	}
	var open []place
	push := func(ids []string, depth int) {
		for _, id := range slices.Backward(ids) {
			open = append(open, place{id, depth})
		}
	}
	for push(roots, 0); len(open) > 0; count++ {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		f := t.grants[at.id]
		push(t.below[at.id], at.depth+1)
		if at.depth == 0 {
			reserved, spent = reserved.Add(f.Reserved), spent.Add(f.Spent)
		}
		if !cli.JSON(c) {
			table.Row(strings.Repeat("  ", at.depth)+f.Grant, f.Subject, f.Limit.String(), f.Reserved.String(), f.Spent.String(),
				f.remaining().String(), f.OwnReserved.String(), f.OwnSpent.String(), yes(f.Revoked), timeCell(f.Expires))
			continue
		}
		line := shownGrant{
			Contract: contract, Depth: at.depth, grantFigures: f, Limit: f.Limit.String(), Reserved: f.Reserved.String(), Spent: f.Spent.String(),
			Remaining: f.remaining().String(), OwnReserved: f.OwnReserved.String(), OwnSpent: f.OwnSpent.String(),
		}
		if err := ui.JSON(c.OutOrStdout(), line); err != nil {
			return err
		}
	}
	if cli.JSON(c) {
		return nil
	}
	table.Row(fmt.Sprintf("all %d", count), "", "", reserved.String(), spent.String())
	return table.Write(c.OutOrStdout())
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
