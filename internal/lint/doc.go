// Package lint holds this repository's own rules about its source, run as an
// ordinary Go test. Third-party linters know Go; these rules know this house:
// which folder may import what, that the deterministic core has no clock, float
// or map order in it, and that files stay readable.
//
// A rule is a function from the parsed files to findings. Each finding names the
// place and what to write instead. TestRepository runs every rule over the
// repository and wants no finding; TestAlarm runs them over the samples in
// testdata/bad and wants exactly the findings the samples announce, so that a
// rule that stopped looking is itself a failing test.
package lint
