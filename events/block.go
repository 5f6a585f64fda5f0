package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Versions of what is written. A reader meets every version there ever was.
const (
	FormatVersion    = 2 // layout of a block
	StateHashVersion = 1 // how stateHash is computed (DESIGN 2)
)

// bareFormat is the version of blocks whose checksum covers their content only.
// It is read for ever, and not written any more.
const bareFormat = 1

// Limits of a block (DESIGN 2). One command larger than MaxBlockBytes forms a
// block alone.
const (
	MaxBlockCommands = 1024
	MaxBlockBytes    = 900 << 10
)

// ErrDamaged marks a block that is not what was written: a checksum, a chain
// or a member is wrong. A damaged log is never extended (DESIGN 3).
var ErrDamaged = errors.New("damaged block")

// Header is the first line of a block.
type Header struct {
	FormatVersion    int64
	RulesVersion     int64 // the rules that decided the block
	StateHashVersion int64
	Generation       string // of the log; import and restore begin a new one
	Writer           string // a ULID for each term of a writer
	Build            string
	Shard, Shards    int64 // this log is shard Shard of Shards
	FirstCommandSeq  uint64
	LastCommandSeq   uint64
	Commands         int64
	Time             string // the writer's clock, milliseconds; for people
	PrevBlockHash    string // hex; ZeroHash in the first block
	StateHash        string // hex; state after the block
	Checksum         string // hex; of this line and all bytes after it, see checksum
}

// Sealed says whether the checksum covers the header too. What a header that is
// not sealed says is certain once the block after it names its hash.
func (h *Header) Sealed() bool { return h.FormatVersion != bareFormat }

type headerLine struct {
	*Header
	first, last int64
}

// Members implements [schema.Record].
func (h *headerLine) Members(m *schema.Members) {
	m.Text("build", &h.Build)
	m.Hex("checksum", &h.Checksum, 2*sha256.Size)
	m.Int("commands", &h.Commands)
	m.Int("firstCommandSeq", &h.first)
	m.Int("formatVersion", &h.FormatVersion)
	m.Text("generation", &h.Generation)
	m.Int("lastCommandSeq", &h.last)
	m.Hex("prevBlockHash", &h.PrevBlockHash, 2*sha256.Size)
	m.Int("rulesVersion", &h.RulesVersion)
	m.Int("shard", &h.Shard)
	m.Int("shards", &h.Shards)
	m.Hex("stateHash", &h.StateHash, 2*sha256.Size)
	m.Int("stateHashVersion", &h.StateHashVersion)
	m.Text("time", &h.Time)
	m.Text("writer", &h.Writer)
}

// Entry is one command of a block with its decision.
type Entry struct {
	Message  Message
	Decision *Decision
	Record   []byte // the decision record as it stands in the block
}

// Block is a parsed block.
type Block struct {
	Header  Header
	Entries []Entry
	Hash    [sha256.Size]byte // what the next block names as PrevBlockHash
}

// headerRoom is what a header line takes, usually. The lines are written behind
// so much room, so that the block need not be copied when it is sealed.
const headerRoom = 1 << 10

// Builder collects the commands of one block.
type Builder struct {
	header  Header
	text    []byte // headerRoom bytes, then the lines
	records []span // of text
}

// span is a part of a text.
type span struct{ from, to int }

// NewBlock starts a block. The caller sets what it knows of the header: the
// versions, counts, sequences and hashes are filled in here.
func NewBlock(h Header) *Builder { return NewBlockOf(h, 0) }

// NewBlockOf is NewBlock for a block whose lines will take about size bytes.
func NewBlockOf(h Header, size int) *Builder {
	h.FormatVersion, h.StateHashVersion = FormatVersion, StateHashVersion
	h.Commands, h.FirstCommandSeq, h.LastCommandSeq = 0, 0, 0
	return &Builder{header: h, text: make([]byte, headerRoom, headerRoom+size)}
}

// Add appends one command with its sealed decision.
func (b *Builder) Add(m *Message, d *Decision) {
	if b.header.Commands == 0 {
		b.header.FirstCommandSeq = m.Seq
	}
	b.header.LastCommandSeq = m.Seq
	b.header.Commands++
	b.text = append(appendMessage(b.text, m), '\n')
	from := len(b.text)
	b.text = d.Append(b.text)
	b.records = append(b.records, span{from, len(b.text)})
	b.text = append(b.text, '\n')
}

// Record is the decision record of command i of the block as it stands there.
// It must not be changed.
func (b *Builder) Record(i int) []byte {
	at := b.records[i]
	return b.text[at.from:at.to:at.to]
}

// Size is the length of the block so far, in bytes, without its header.
func (b *Builder) Size() int { return len(b.text) - headerRoom }

// Commands is the number of commands so far.
func (b *Builder) Commands() int { return int(b.header.Commands) }

// Seal completes the block and returns its bytes and its hash. Nothing may be
// added afterwards.
func (b *Builder) Seal(stateHash [sha256.Size]byte) ([]byte, [sha256.Size]byte) {
	content := sha256.Sum256(b.text[headerRoom:])
	h := b.header
	h.StateHash, h.Checksum = hex.EncodeToString(stateHash[:]), hex.EncodeToString(content[:])
	line := headerLine{Header: &h, first: int64(h.FirstCommandSeq), last: int64(h.LastCommandSeq)}
	head := append(schema.AppendRecord(make([]byte, 0, headerRoom), &line), '\n')
	at, _ := checksumAt(head) // it was just written
	sum := sha256.Sum256(head)
	hex.Encode(head[at:], sum[:])
	return b.behind(head), sha256.Sum256(head)
}

// behind puts the lines behind the header, without copying them if it fits into
// the room before them.
func (b *Builder) behind(head []byte) []byte {
	if len(head) > headerRoom {
		return append(head, b.text[headerRoom:]...)
	}
	from := headerRoom - len(head)
	copy(b.text[from:], head)
	return b.text[from:]
}

// checksumAt is where the digits of the checksum are in a header line. A quoted
// name cannot stand inside a string of JSON, so it is found once.
func checksumAt(line []byte) (at int, ok bool) {
	name := []byte(`"checksum":"`)
	at = bytes.Index(line, name) + len(name)
	return at, at >= len(name) && at+2*sha256.Size <= len(line)
}

// intact says whether the checksum is that of a block: the sha256 of the header
// line, with its line feed, that has the sha256 of what comes after it in the
// place of the checksum. So it covers every byte of the block.
func intact(line, content []byte, checksum string, format int64) bool {
	sum := sha256.Sum256(content)
	if format != bareFormat {
		at, ok := checksumAt(line)
		if !ok {
			return false
		}
		sealed := append(bytes.Clone(line), '\n')
		hex.Encode(sealed[at:], sum[:])
		sum = sha256.Sum256(sealed)
	}
	return hex.EncodeToString(sum[:]) == checksum
}

// BlockHash is the sha256 of a block's header line, which names the checksum
// of the rest.
func BlockHash(data []byte) [sha256.Size]byte {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[:i+1]
	}
	return sha256.Sum256(data)
}

// ParseHeader reads the header line of a block and checks the checksum. Errors are ErrDamaged, except for a format that this build cannot read.
func ParseHeader(data []byte) (*Header, error) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return nil, fmt.Errorf("%w: no header line", ErrDamaged)
	}
	if err := checkFormat(data[:end], data[end+1:]); err != nil {
		return nil, err
	}
	h := &Header{}
	line := headerLine{Header: h}
	if err := schema.DecodeRecord(data[:end], &line); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrDamaged, err)
	}
	h.FirstCommandSeq, h.LastCommandSeq = uint64(line.first), uint64(line.last)
	if !intact(data[:end], data[end+1:], h.Checksum, h.FormatVersion) {
		return nil, fmt.Errorf("%w: commands %d to %d: the content does not match the checksum",
			ErrDamaged, h.FirstCommandSeq, h.LastCommandSeq)
	}
	return h, nil
}

// checkFormat reads the format version before anything else, so that a newer
// format is named and not taken for damage. A block that is whole but for this
// number is damaged, so each format has to compute its checksum in its own way.
func checkFormat(line, content []byte) error {
	value, err := schema.ParseValue(line)
	if err != nil || value.Kind() != '{' {
		return fmt.Errorf("%w: the header is not a JSON object", ErrDamaged)
	}
	member, _ := value.Member("formatVersion")
	version, ok := member.Int()
	if !ok {
		return fmt.Errorf("%w: the header has no formatVersion", ErrDamaged)
	}
	if version >= bareFormat && version <= FormatVersion {
		return nil
	}
	sum, _ := value.Member("checksum")
	checksum, _ := sum.Str()
	for known := int64(bareFormat); known <= FormatVersion; known++ {
		was := bytes.Replace(line, fmt.Appendf(nil, `"formatVersion":%d`, version), fmt.Appendf(nil, `"formatVersion":%d`, known), 1)
		if intact(was, content, checksum, known) {
			return fmt.Errorf("%w: the header says format %d, and the checksum is one of format %d", ErrDamaged, version, known)
		}
	}
	return fmt.Errorf("block format %d: this build reads formats up to %d; use a newer build", version, FormatVersion)
}

// ParseBlock reads a whole block and checks it against its own header: the
// checksum, the number of commands and their order. The chain to the block
// before is the caller's to check.
func ParseBlock(data []byte) (*Block, error) {
	h, err := ParseHeader(data)
	if err != nil {
		return nil, err
	}
	commands := min(h.Commands, MaxBlockCommands) // more is damage, or an older build's
	b := &Block{Header: *h, Hash: BlockHash(data), Entries: make([]Entry, 0, commands)}
	rest := data[bytes.IndexByte(data, '\n')+1:]
	p := messageParser{ids: make([]string, 0, commands)}
	for len(rest) > 0 {
		var entry Entry
		if rest, err = entry.parse(rest, &p); err != nil {
			return nil, fmt.Errorf("%w: command %d of the block: %w", ErrDamaged, len(b.Entries)+1, err)
		}
		b.Entries = append(b.Entries, entry)
	}
	return b, b.check()
}

// parse reads the two lines of an entry and returns what follows them.
func (e *Entry) parse(data []byte, p *messageParser) ([]byte, error) {
	message, rest, ok1 := bytes.Cut(data, []byte{'\n'})
	record, rest, ok2 := bytes.Cut(rest, []byte{'\n'})
	if !ok1 || !ok2 {
		return nil, errors.New("a line is missing")
	}
	var err error
	if e.Message, err = p.parse(message); err != nil {
		return nil, err
	}
	e.Record = record
	if e.Decision, err = ParseDecision(record); err != nil {
		return nil, err
	}
	if e.Decision.CommandSeq != e.Message.Seq {
		return nil, fmt.Errorf("the record is for command %d, the message is %d", e.Decision.CommandSeq, e.Message.Seq)
	}
	return rest, nil
}

func (b *Block) check() error {
	n := len(b.Entries)
	if n == 0 || int64(n) != b.Header.Commands {
		return fmt.Errorf("%w: %d commands, the header says %d", ErrDamaged, n, b.Header.Commands)
	}
	if b.Entries[0].Message.Seq != b.Header.FirstCommandSeq || b.Entries[n-1].Message.Seq != b.Header.LastCommandSeq {
		return fmt.Errorf("%w: the first or last command is not the header's", ErrDamaged)
	}
	for i := 1; i < n; i++ {
		if b.Entries[i].Message.Seq <= b.Entries[i-1].Message.Seq {
			return fmt.Errorf("%w: command %d follows %d", ErrDamaged, b.Entries[i].Message.Seq, b.Entries[i-1].Message.Seq)
		}
	}
	return nil
}
