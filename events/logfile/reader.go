package logfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// MaxLine is the length of the longest line, in bytes. The largest message of a
// stream, 1 MiB, fits however its bytes have to be escaped.
const MaxLine = 8 << 20

// Line is one line, resolved to what it publishes.
type Line struct {
	Number  int      // in the file, from 1: for messages to people
	Subject string   // may be any bytes
	IDs     []string // values of the header; nil when there is none
	Body    []byte
	Raw     bool   // the body was given as it is, not as a command
	At      *int64 // milliseconds; nil when the line has none
	Seq     uint64 // 0 when the line has none

	Decision []byte // the recorded decision of an export, as it stands there; nil when the line has none
}

// Reader reads a log file line by line.
type Reader struct {
	Contract  string // for lines that name none; "" is no default
	Principal string // likewise
	Decisions bool   // lines may have a recorded decision, as export --decisions prints it

	source  *bufio.Reader
	number  int // lines read
	count   int // lines that were not blank
	lastSeq uint64
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{source: bufio.NewReaderSize(r, 64<<10)}
}

// Next gives the next line that is not blank, or io.EOF. A line that breaks the
// format is an *Error; reading may go on behind it.
func (r *Reader) Next() (*Line, error) {
	text, err := r.nextText()
	if err != nil {
		return nil, err
	}
	line, err := r.parse(text)
	if err != nil {
		return nil, r.locate(err)
	}
	line.Number = r.number
	return line, nil
}

// NextMessage gives the next line as the message that a stream would have held:
// at is needed, and sequences must rise.
func (r *Reader) NextMessage() (*events.Message, error) {
	m, _, err := r.NextDecided()
	return m, err
}

// NextDecided is NextMessage with the recorded decision, nil where the line has
// none.
func (r *Reader) NextDecided() (m *events.Message, decision []byte, err error) {
	line, err := r.Next()
	if err != nil {
		return nil, nil, err
	}
	if line.At == nil {
		return nil, nil, r.locate(fault("/at", "is missing: a log line says when it was published, in milliseconds"))
	}
	seq := line.Seq
	if seq == 0 {
		seq = uint64(r.count)
	}
	if seq <= r.lastSeq {
		return nil, nil, r.locate(fault("/seq", "%d does not follow %d", seq, r.lastSeq))
	}
	r.lastSeq = seq
	return &events.Message{
		Seq:     seq,
		Time:    *line.At * events.NanosPerMilli,
		Subject: line.Subject,
		IDs:     line.IDs,
		Body:    line.Body,
	}, line.Decision, nil
}

// nextText skips blank lines. The text is valid until the next call.
func (r *Reader) nextText() ([]byte, error) {
	for {
		text, err := r.readLine()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, r.locate(err)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			r.count++
			return text, nil
		}
	}
}

// readLine reads up to a newline or the end of the file.
func (r *Reader) readLine() ([]byte, error) {
	r.number++
	text, err := r.source.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, endOfLine(text, err)
	}
	long := bytes.Clone(text)
	for errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.source.ReadSlice('\n')
		if len(long) <= MaxLine {
			long = append(long, text...)
		}
	}
	if len(long) > MaxLine {
		return nil, fault("", "longer than %d bytes", MaxLine)
	}
	return long, endOfLine(long, err)
}

// endOfLine: the last line may lack its newline.
func endOfLine(text []byte, err error) error {
	if errors.Is(err, io.EOF) && len(text) > 0 {
		return nil
	}
	return err
}

// locate writes the line into an Error; what is no Error failed to read.
func (r *Reader) locate(err error) error {
	var f *Error
	if errors.As(err, &f) {
		f.Line = r.number
		return f
	}
	return fmt.Errorf("line %d: %w", r.number, err)
}
