package plan

import (
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

const gateRegistrySchema = "kxm.gate-registry.v1"

// gateRegistry: the members of gates, and the pin of the registry, which a plan with gate steps must have.
func (p *runPlan) gateRegistry() *Fault {
	n := p.envelope.Get("gates")
	if n == nil {
		return nil
	}
	r := reader{reason: "gates"}
	if !r.keys(n, []string{"registry", "definitions", "controlRoot"}, nil) {
		return r.fault
	}
	registry := n.Get("registry")
	if registry.Kind() == 'n' {
		r.want(registry, len(p.gates) == 0, "an object, as gate steps need it to be")
		return r.fault
	}
	r.keys(registry, []string{"schema", "hash"}, nil)
	r.word(registry.Get("schema"), gateRegistrySchema)
	hash := registry.Get("hash")
	r.want(hash, isDigest(r.text(hash)), "sha256: and 64 lower-case hexadecimal digits")
	return r.fault
}

func (p *runPlan) controlRoot() *Fault {
	n := p.envelope.Get("gates").Get("controlRoot")
	if n == nil {
		return nil
	}
	r := reader{reason: "gates"}
	r.keys(n, []string{"repositoryId", "projectKey"}, nil)
	r.word(n.Get("repositoryId"), "control")
	r.text(n.Get("projectKey"))
	return r.fault
}

// gateNames: every gate that a step names is defined, and no other.
func (p *runPlan) gateNames() *Fault {
	n := p.envelope.Get("gates").Get("definitions")
	if n == nil {
		return nil
	}
	r := reader{reason: "gates"}
	if !r.object(n) {
		return r.fault
	}
	for _, id := range p.order {
		if gate, ok := p.steps.Get(id).Get("gate").Str(); ok && p.gates[gate] && n.Get(gate) == nil {
			r.fail(n, "has no gate %q, which step %q names", gate, id)
		}
	}
	for _, definition := range n.Kids {
		r.want(definition, p.gates[definition.Name], "a gate that some step names")
	}
	return r.fault
}

func (p *runPlan) gateDefinitions(report *report) {
	definitions := p.envelope.Get("gates").Get("definitions")
	if definitions.Kind() != '{' {
		return
	}
	for _, n := range definitions.Kids {
		if report.full() {
			return
		}
		r := reader{reason: "gates"}
		r.gate(n)
		report.add(r.fault)
	}
}

func (r *reader) gate(n *jsontree.Node) {
	r.has(n, "kind")
	switch r.word(n.Get("kind"), "command", "artifacts-exist", "reserved") {
	case "command":
		r.keys(n, []string{"kind", "argv", "timeoutMs"}, []string{"cwd"})
		r.argv(n.Get("argv"))
		timeout := n.Get("timeoutMs")
		if timeout != nil {
			ms, ok := timeout.Text.Int()
			r.want(timeout, ok && 1 <= ms && ms <= 1<<31-1, "a whole number from 1 to 2147483647")
		}
		if cwd := n.Get("cwd"); cwd != nil {
			r.word(cwd, "control")
		}
	case "artifacts-exist":
		r.keys(n, []string{"kind", "paths"}, nil)
		r.paths(n.Get("paths"))
	case "reserved":
		r.keys(n, []string{"kind"}, nil)
	}
}

// argv: the first entry is a bare name or an absolute path.
func (r *reader) argv(n *jsontree.Node) {
	argv := r.texts(n)
	if r.fault != nil || !r.want(n, 1 <= len(argv) && len(argv) <= 64, "an array of 1 to 64 strings") {
		return
	}
	for i, entry := range argv {
		ok := entry != "" && utf16Len(entry) <= 4096 && !strings.Contains(entry, "\x00")
		r.want(n.Kids[i], ok, "a string of 1 to 4096 UTF-16 code units without NUL")
	}
	first := argv[0]
	relative := !strings.HasPrefix(first, "/") && strings.Contains(first, "/")
	r.want(n.Kids[0], first != "." && first != ".." && !strings.Contains(first, `\`) && !relative, "a bare name or an absolute path")
}

func (r *reader) paths(n *jsontree.Node) {
	paths := r.texts(n)
	if r.fault != nil || !r.want(n, 1 <= len(paths) && len(paths) <= 64, "an array of 1 to 64 paths") {
		return
	}
	seen := map[string]bool{}
	for i, path := range paths {
		r.want(n.Kids[i], !seen[path], "unique")
		seen[path] = true
	}
	for i, path := range paths {
		r.want(n.Kids[i], isPortablePath(path), "a portable relative path")
	}
}
