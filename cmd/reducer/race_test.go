//go:build race

package main

// The processes of the tests look for races where the tests do.
func init() { buildFlags = []string{"-race"} }
