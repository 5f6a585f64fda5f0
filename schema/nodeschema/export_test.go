package nodeschema

// Fits reports whether the schema validates an instance of so many bytes.
func (s *Schema) Fits(bytes int) bool { return s.tooLarge(bytes) == "" }
