// Package doccheck keeps the documentation true. It decides the worked examples
// of the pages in docs, and makes the parts of docs that follow from code: the
// table of codes and the byte-exact examples of the formats.
//
// The command internal/gendocs writes those parts; the tests here fail when a
// page says something else than the code does.
package doccheck

//go:generate go run ../gendocs ../..
