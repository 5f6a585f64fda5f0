package reducertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// story is what a scenario keeps between its directives.
type story struct {
	contract string
	now      int64 // milliseconds
	seq      uint64
	last     *events.Message
	names    map[string]string // of JSON values
}

func newStory() story { return story{contract: "c", now: 1000, names: map[string]string{}} }

// Do sends the command that a line of a scenario writes, with what may stand
// below the line, and returns the decision. An argument is
//
//	by=P contract=C       who sends it, and to which ledger
//	id=X  id=none         the header Aiws-Command-Id; a new id for each command unless the story says otherwise
//	class=MODEL actor=P   a context
//	short=V  run=V        a short name (verbs.go); run is runId where there is one
//	a.b.c=V  a.b.c=(V, V) a member by its path
//	-a.b.c                a member taken out
//
// A value is the text of a member; +N is now + N; true, false, and what begins
// like JSON is JSON; $x is the JSON that the story named x. Below the line stand nodes of a graph, or a JSON object
// whose members are set as well.
func (w *World) Do(line, below string) (*events.Decision, error) {
	m, err := w.Message(line, below)
	if err != nil {
		return nil, err
	}
	return w.Step(m)
}

// Message builds the message of a line (see Do) without sending it; its
// sequence is taken.
func (w *World) Message(line, below string) (*events.Message, error) {
	name, args, err := datadriven.ParseLine(line)
	if err != nil {
		return nil, err
	}
	return w.compose(name, args, below)
}

func (w *World) compose(name string, args []datadriven.CmdArg, below string) (*events.Message, error) {
	v, ok := verbs[name]
	if !ok {
		return nil, fmt.Errorf("no verb %q", name)
	}
	c := &composer{verb: v, story: &w.story, principal: v.by, contract: w.story.contract}
	if err := c.compose(args, below); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	body, err := c.encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	subject := schema.Subject{Contract: c.contract, Principal: c.principal, Type: v.command}
	return w.story.message(subject.String(), c.ids, body), nil
}

// message stamps a message with the next sequence and the story's time.
func (s *story) message(subject string, ids *[]string, body []byte) *events.Message {
	s.seq++
	m := &events.Message{Seq: s.seq, Time: s.now * events.NanosPerMilli, Subject: subject, Body: body}
	if ids == nil {
		m.IDs = []string{"id-" + strconv.FormatUint(s.seq, 10)}
	} else {
		m.IDs = *ids
	}
	s.last = m
	return m
}

// composer builds the body of one command.
type composer struct {
	verb
	story     *story
	principal string
	contract  string
	ids       *[]string // nil: a new id
	body      map[string]any
	item      string
	class     string
	actor     string
}

func (c *composer) compose(args []datadriven.CmdArg, below string) error {
	if err := unmarshal(c.verb.body, &c.body); err != nil {
		return err
	}
	c.body["type"] = c.command
	if err := c.below(below); err != nil {
		return err
	}
	for i, arg := range args {
		if err := c.argument(arg, i == 0); err != nil {
			return fmt.Errorf("%s: %w", arg.Key, err)
		}
	}
	if c.class != "" || c.actor != "" {
		class := map[string]any{"actor": c.principal, "policyRevision": "1", "decisionClass": "DETERMINISTIC"}
		if c.class != "" {
			class["decisionClass"] = c.class
		}
		if c.actor != "" {
			class["actor"] = c.actor
		}
		c.body["context"] = class
	}
	c.schedule()
	return nil
}

func (c *composer) argument(arg datadriven.CmdArg, first bool) error {
	switch {
	case len(arg.Vals) == 0 && strings.HasPrefix(arg.Key, "-"):
		return c.remove(arg.Key[1:])
	case len(arg.Vals) == 0 && first:
		return c.set(c.subject, []string{arg.Key})
	case len(arg.Vals) == 0:
		return fmt.Errorf("wants a value")
	}
	value := arg.Vals[0]
	switch arg.Key {
	case "by":
		c.principal = value
	case "contract":
		c.contract = value
	case "id":
		c.ids = &[]string{value}
		if value == "none" {
			c.ids = new([]string)
		}
	case "class":
		c.class = value
	case "actor":
		c.actor = value
	case "gate":
		return c.gate(arg.Vals)
	default:
		if arg.Key == "item" && c.short["item"] == "" {
			c.item = value
			return nil
		}
		return c.set(c.path(arg.Key), arg.Vals)
	}
	return nil
}

// path is the path of an argument.
func (c *composer) path(key string) string {
	if path, ok := c.short[key]; ok {
		return path
	}
	if key == "run" {
		return "runId"
	}
	for short, path := range map[string]string{"allow.": "policy.allow.", "act-for.": "policy.actFor."} {
		if rest, ok := strings.CutPrefix(key, short); ok {
			return path + rest + "[]"
		}
	}
	return key
}

// set sets the member at a path. A list is what is a list by default, or what
// the path marks as one.
func (c *composer) set(path string, texts []string) error {
	path, isList := strings.CutSuffix(path, "[]")
	parent, name := c.parent(path)
	if _, list := parent[name].([]any); list || isList {
		values := []any{}
		for _, text := range texts {
			if text != "" {
				values = append(values, text)
			}
		}
		parent[name] = values
		return nil
	}
	if len(texts) != 1 {
		return fmt.Errorf("wants one value")
	}
	value, err := c.value(texts[0], parent[name])
	parent[name] = value
	return err
}

func (c *composer) remove(path string) error {
	parent, name := c.parent(c.path(path))
	if _, ok := parent[name]; !ok {
		return fmt.Errorf("is not there")
	}
	delete(parent, name)
	return nil
}

// parent is the object that holds the member at a path, made if need be.
func (c *composer) parent(path string) (map[string]any, string) {
	at := c.body
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	return at, names[len(names)-1]
}

// value is the JSON value of an argument; before is what it replaces.
func (c *composer) value(text string, before any) (any, error) {
	if _, isText := before.(string); !isText && (text == "true" || text == "false") {
		return text == "true", nil
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, 64); err == nil && strings.HasPrefix(text, "+") {
		return strconv.FormatInt(c.story.now+n, 10), nil
	}
	if name, named := strings.CutPrefix(text, "$"); named {
		text = c.story.names[name]
	}
	if text != "" && strings.ContainsAny(text[:1], `{["`) {
		var value any
		return value, unmarshal(text, &value)
	}
	return text, nil
}

// gate sets the fingerprint of an approval to that of a node (RULES 10).
func (c *composer) gate(names []string) error {
	if len(names) != 3 {
		return fmt.Errorf("wants (graph, node, run)")
	}
	canonical := fmt.Sprintf(`{"graphId":%q,"nodeId":%q,"runId":%q}`, names[0], names[1], names[2])
	return c.set("approval.fingerprint", []string{schema.HashOf([]byte(canonical))})
}

// schedule fills in what a story leaves out of a trigger with a schedule.
func (c *composer) schedule() {
	trigger, _ := c.body["trigger"].(map[string]any)
	schedule, ok := trigger["schedule"].(map[string]any)
	if !ok {
		return
	}
	for name, value := range map[string]string{"startMs": "0", "intervalMs": "100", "catchUp": "SKIP", "maxCatchUp": "10"} {
		if _, ok := schedule[name]; !ok {
			schedule[name] = value
		}
	}
	if trigger["kind"] == "EVENT" {
		trigger["kind"] = "SCHEDULED"
	}
}

// below takes what stands below the line.
func (c *composer) below(text string) error {
	if text == "" {
		return nil
	}
	if strings.HasPrefix(text, "{") {
		var more map[string]any
		if err := unmarshal(text, &more); err != nil {
			return err
		}
		for name, value := range more {
			c.body[name] = value
		}
		return nil
	}
	var nodes []any
	for line := range strings.Lines(text) {
		node, err := nodeOf(strings.TrimSpace(line))
		if err != nil {
			return fmt.Errorf("node %q: %w", line, err)
		}
		nodes = append(nodes, node)
	}
	graph, ok := c.body["graph"].(map[string]any)
	if !ok {
		return fmt.Errorf("only a graph has lines below it")
	}
	graph["nodes"] = nodes
	return nil
}

// nodeOf reads one node: id KIND after=(a, b) config={..} in={..} out={..}.
func nodeOf(line string) (map[string]any, error) {
	id, args, err := datadriven.ParseLine(line)
	if err != nil {
		return nil, err
	}
	node := map[string]any{"id": id, "dependsOn": []any{}, "config": map[string]any{}}
	members := map[string]string{"config": "config", "in": "inputSchema", "out": "outputSchema"}
	for _, arg := range args {
		switch {
		case len(arg.Vals) == 0:
			node["kind"] = arg.Key
		case arg.Key == "after":
			list := make([]any, len(arg.Vals))
			for i := range arg.Vals {
				list[i] = arg.Vals[i]
			}
			node["dependsOn"] = list
		case members[arg.Key] == "":
			return nil, fmt.Errorf("no argument %q", arg.Key)
		default:
			var value any
			if err := unmarshal(strings.Join(arg.Vals, ","), &value); err != nil {
				return nil, err
			}
			node[members[arg.Key]] = value
		}
	}
	return node, nil
}

var reference = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// encode puts in the references and gives the canonical body.
func (c *composer) encode() ([]byte, error) {
	text, err := json.Marshal(c.refer(c.body))
	if err != nil {
		return nil, err
	}
	return schema.CanonicalStored(text)
}

// refer puts in what the references in texts stand for.
func (c *composer) refer(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = c.refer(v[name])
		}
	case []any:
		for i := range v {
			v[i] = c.refer(v[i])
		}
	case string:
		return reference.ReplaceAllStringFunc(v, c.resolve)
	}
	return value
}

func (c *composer) resolve(name string) string {
	switch name {
	case "{by}":
		return c.principal
	case "{contract}":
		return c.contract
	case "{now}":
		return strconv.FormatInt(c.story.now, 10)
	case "{action}":
		item := c.item
		if item == "" {
			item = "desk"
		}
		action := schema.Action{
			Capability: "buy", Resource: "shop", Preconditions: "{}",
			Payload: schema.Value(`{"item":` + string(schema.AppendString(nil, item)) + `}`),
		}
		return schema.Fingerprint(&action)
	}
	if text, ok := c.body[name[1:len(name)-1]].(string); ok {
		return text
	}
	return name
}

// unmarshal keeps numbers as they are written.
func unmarshal(text string, into any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return d.Decode(into)
}
