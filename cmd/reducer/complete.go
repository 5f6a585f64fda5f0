package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Bounds of asking a reducer while somebody waits for the Tab key.
const (
	completePatience = 500 * time.Millisecond
	completeWordsMax = 200
)

// completeWords completes a flag with fixed words.
func completeWords(c *cobra.Command, flag string, words ...string) {
	completeFlag(c, flag, func(context.Context) []string { return words })
}

// completeFlag completes a flag with what a function finds; files are never
// meant.
func completeFlag(c *cobra.Command, flag string, find func(context.Context) []string) {
	complete := func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		words := slices.DeleteFunc(slices.Clone(find(c.Context())), func(word string) bool { return !strings.HasPrefix(word, begun) })
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic("complete: " + err.Error()) // a flag that was never added
	}
}

// completing asks a running reducer, and gives up soon: nobody is told of an
// error while typing.
func (s *source) completing(ctx context.Context, f func(context.Context, *client.Client) []string) (words []string) {
	if s.stopped() {
		return nil // a server of its own takes longer than anybody waits
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completePatience)
	defer cancel()
	short := *s
	short.nats.Timeout = completePatience
	_ = short.asking(ctx, func(reducer *client.Client) error {
		words = f(ctx, reducer)
		return nil
	})
	return words
}

// contracts are those that are open.
func (s *source) contracts(ctx context.Context) []string {
	return s.completing(ctx, func(ctx context.Context, reducer *client.Client) (words []string) {
		for d, err := range reducer.Contracts(ctx) {
			if err != nil || len(words) == completeWordsMax {
				break
			}
			words = append(words, d.Key)
		}
		return words
	})
}

// runs are those of the contract that was named, or of all.
func (s *showing) runs(ctx context.Context) []string {
	return s.source.completing(ctx, func(ctx context.Context, reducer *client.Client) (words []string) {
		contracts := []string{s.contract}
		if s.contract == "" {
			contracts, _ = openContracts(ctx, reducer)
		}
		for _, contract := range contracts {
			for d, err := range reducer.Documents(ctx, contract, wire.ListRequest{Projection: state.Runs, Limit: completeWordsMax}) {
				if err != nil || len(words) == completeWordsMax {
					return words
				}
				words = append(words, d.Key)
			}
		}
		return words
	})
}

// codes are all rejection codes.
func codes() []string {
	var all []string
	for _, info := range events.Codes {
		all = append(all, string(info.Code))
	}
	slices.Sort(all)
	return all
}
