package doccheck

import (
	"os"
	"path/filepath"
)

// FormatsPage is the page whose examples Generate fills in.
const FormatsPage = "docs/formats.md"

// Generate gives the pages that follow from code, as they should be.
func Generate(root string) ([]Page, error) {
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	keys, err := os.ReadFile(filepath.Join(root, "reducer", "state", "key.go"))
	if err != nil {
		return nil, err
	}
	made := []Page{{Name: CodesPage, Text: CodesTable(pages)}}
	for _, page := range pages {
		if page.Name != FormatsPage {
			continue
		}
		text, err := Fill(page, string(keys))
		if err != nil {
			return nil, err
		}
		made = append(made, Page{Name: page.Name, Text: text})
	}
	return made, nil
}

// Write writes those pages.
func Write(root string) error {
	made, err := Generate(root)
	if err != nil {
		return err
	}
	for _, page := range made {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(page.Name)), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
