package ui

import (
	"encoding/json"
	"io"
)

// JSON prints v on one line.
func JSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
