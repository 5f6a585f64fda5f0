package exit

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{io.EOF, 1},
		{Errorf(Usage, "no such projection"), 2},
		{fmt.Errorf("replay: %w", Errorf(Integrity, "block 7: %w", io.ErrUnexpectedEOF)), 3},
		{With(Rejected, nil), 0},
		{With(Rejected, errors.New("refused")), 4},
		{With(Fenced, errors.New("fenced")), 5},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("Code(%v) = %d, want %d", c.err, got, c.want)
		}
	}
	if err := Errorf(Integrity, "block 7: %w", io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "block 7: unexpected EOF" {
		t.Errorf("the code hides the error: %v", err)
	}
}
