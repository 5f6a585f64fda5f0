package jsontree

import "github.com/aiws-reducer/aiws-reducer/schema"

// parser reads canonical JSON, which has no white space and no errors. It is written for schema.Value, which is canonical by
// its contract; on any other text it may panic.
type parser struct {
	text  schema.Value
	at    int
	kids  []*Node // of the containers that are open, innermost last
	nodes []Node  // what is left of the last block of nodes
}

// block is how many nodes are made at a time, where so many can come.
const block = 128

func (p *parser) node() *Node {
	if len(p.nodes) == 0 {
		p.nodes = make([]Node, min(block, (len(p.text)-p.at)/2+1))
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	return n
}

func (p *parser) value() *Node {
	n, start := p.node(), p.at
	switch p.text[p.at] {
	case '{':
		p.container(n, '}', p.member)
	case '[':
		p.container(n, ']', p.value)
	case '"':
		n.chars = p.str()
	default:
		p.scalar()
	}
	n.Text = p.text[start:p.at]
	return n
}

// container reads what stands between the brackets and makes it the kids of n.
func (p *parser) container(n *Node, end byte, read func() *Node) {
	first := len(p.kids)
	for p.at++; p.text[p.at] != end; {
		kid := read()
		kid.parent, kid.index = n, len(p.kids)-first
		p.kids = append(p.kids, kid)
		if p.text[p.at] == ',' {
			p.at++
		}
	}
	p.at++
	n.Kids = append(n.Kids, p.kids[first:]...)
	p.kids = p.kids[:first]
}

func (p *parser) member() *Node {
	name := p.str()
	p.at++ // the colon
	n := p.value()
	n.Name = name
	return n
}

func (p *parser) str() string {
	start := p.at
	for p.at++; p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	chars, _ := p.text[start:p.at].Str()
	return chars
}

// scalar moves over a number or a literal.
func (p *parser) scalar() {
	for ; p.at < len(p.text); p.at++ {
		if c := p.text[p.at]; c == ',' || c == ']' || c == '}' {
			return
		}
	}
}
