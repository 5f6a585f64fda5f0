package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// formatVersion is that of segments and of HEAD.
const formatVersion = 1

const (
	segmentSuffix = ".seg"
	nameDigits    = 20
	maxLine       = 1 << 10  // of our own lines
	maxBlock      = 64 << 20 // no server takes a message this large
)

// segmentName is the name of the segment that begins with a block.
func segmentName(first uint64) string {
	return fmt.Sprintf("%0*d%s", nameDigits, first, segmentSuffix)
}

// segmentFirst is the block that a segment's name says it begins with.
func segmentFirst(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != nameDigits {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}

// segmentHeader is the first line of a segment.
type segmentHeader struct {
	version      int64
	first        int64
	follows      string // name of the segment before; "" in the first one
	followsBytes int64
	prev         string // hash of the block before, hex
}

// Members implements [schema.Record].
func (h *segmentHeader) Members(m *schema.Members) {
	m.Int("aiwsArchive", &h.version)
	m.Int("firstBlock", &h.first)
	m.OptText("follows", &h.follows)
	m.OptInt("followsBytes", &h.followsBytes)
	m.Hex("prevBlockHash", &h.prev, 2*sha256.Size)
}

// frameHeader is the line before a block.
type frameHeader struct {
	block  int64
	bytes  int64
	sha256 string
}

// Members implements [schema.Record].
func (h *frameHeader) Members(m *schema.Members) {
	m.Int("block", &h.block)
	m.Int("bytes", &h.bytes)
	m.Hex("sha256", &h.sha256, 2*sha256.Size)
}

// appendFrame appends a block with its line.
func appendFrame(dst []byte, seq uint64, block []byte) []byte {
	sum := sha256.Sum256(block)
	h := frameHeader{block: int64(seq), bytes: int64(len(block)), sha256: hex.EncodeToString(sum[:])}
	dst = append(schema.AppendRecord(dst, &h), '\n')
	return append(dst, block...)
}

// decodeLine reads one of our lines, which must be in the form that we write:
// a bit that changes nothing of what a line says is damage too.
func decodeLine(line []byte, r schema.Record) error {
	if err := schema.DecodeRecord(line, r); err != nil {
		return err
	}
	if !bytes.Equal(schema.AppendRecord(nil, r), line) {
		return errors.New("the line is not as it was written")
	}
	return nil
}

// frame is a block as a segment has it.
type frame struct {
	seq   uint64
	block []byte
	hash  [sha256.Size]byte
}

// scanner reads a segment from its beginning and checks everything in it. An
// error says what is wrong at offset.
type scanner struct {
	r      *bufio.Reader
	offset int64 // of the first byte not yet read as whole
	header segmentHeader
	seq    uint64            // last block read
	hash   [sha256.Size]byte // its hash

	generation string // of the last block read
}

// newScanner reads the header of a segment with a name.
func newScanner(r io.Reader, first uint64) (*scanner, error) {
	s := &scanner{r: bufio.NewReaderSize(r, 256<<10)}
	line, err := s.line()
	if err != nil {
		return s, err
	}
	if err := decodeLine(line, &s.header); err != nil {
		return s, err
	}
	switch {
	case s.header.version != formatVersion:
		return s, fmt.Errorf("archive format %d: this build reads format %d", s.header.version, formatVersion)
	case uint64(s.header.first) != first:
		return s, fmt.Errorf("it says that it begins with block %d", s.header.first)
	}
	s.offset += int64(len(line)) + 1
	s.seq = first - 1
	_, err = hex.Decode(s.hash[:], []byte(s.header.prev))
	return s, err
}

// line reads a line without its line feed. io.EOF is the end before it.
func (s *scanner) line() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, errors.New("a line without an end")
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine:
		return nil, errors.New("a line that is too long")
	case err != nil:
		return nil, err
	}
	return bytes.Clone(line[:len(line)-1]), nil
}

// next reads the next block; io.EOF is the end of a segment.
func (s *scanner) next() (*frame, error) {
	line, err := s.line()
	if err != nil {
		return nil, err
	}
	var h frameHeader
	if err := decodeLine(line, &h); err != nil {
		return nil, err
	}
	switch {
	case uint64(h.block) != s.seq+1:
		return nil, fmt.Errorf("block %d follows block %d", h.block, s.seq)
	case h.bytes > maxBlock:
		return nil, fmt.Errorf("a block of %d bytes", h.bytes)
	}
	block := make([]byte, h.bytes)
	if n, err := io.ReadFull(s.r, block); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it ends after %d of the %d bytes of block %d", n, h.bytes, h.block)
		}
		return nil, err
	}
	if sum := sha256.Sum256(block); hex.EncodeToString(sum[:]) != h.sha256 {
		return nil, fmt.Errorf("the content of block %d does not match its checksum", h.block)
	}
	header, err := chained(uint64(h.block), block, s.hash)
	if err != nil {
		return nil, err
	}
	s.offset += int64(len(line)) + 1 + h.bytes
	s.seq, s.hash, s.generation = uint64(h.block), events.BlockHash(block), header.Generation
	return &frame{seq: s.seq, block: block, hash: s.hash}, nil
}

// chained checks that a block is whole and follows the block with the hash prev.
func chained(seq uint64, block []byte, prev [sha256.Size]byte) (*events.Header, error) {
	h, err := events.ParseHeader(block)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", seq, err)
	}
	if h.PrevBlockHash != hex.EncodeToString(prev[:]) {
		return nil, fmt.Errorf("block %d is not chained to the block before it", seq)
	}
	return h, nil
}
