package plan

import "github.com/aiws-reducer/aiws-reducer/schema"

// checkOpaque: any JSON document; nothing in it is judged.
func checkOpaque(s *Source, r *report) schema.Value {
	document, f := open(s.Document, "", "json")
	if f != nil {
		r.add(f)
		return ""
	}
	return document.Text
}
