// Package nodeschema compiles and applies the JSON Schemas of a graph's nodes (RULES 10, registerGraph) and of a plan's
// capabilities: JSON Schema 2020-12 without references, within limits that make a hostile schema or value harmless. The engine
// is github.com/santhosh-tekuri/jsonschema, which loads nothing here; this package keeps from it what would cost too much or
// what RULES 10 wants otherwise.
//
//	walk.go     the limits, wherever a keyword stands; what the library is to see of a schema
//	pattern.go  what a pattern costs, before it is built
//	compile.go  the metaschema, the library's compiler
//	own.go      four keywords that are answered here, as keywords that are added to the library
//	check.go    the limits of a validation, the validation
//	failure.go  the same failure every time
//
// What Compile accepts:
//
//   - a schema that is valid under the 2020-12 metaschema;
//   - none of $ref, $dynamicRef, $id, $anchor, $dynamicAnchor, $defs where a keyword stands; a property of that name, or one
//     inside const, enum, default, examples or an unknown keyword, is no keyword;
//   - $schema, where there is one, is the 2020-12 URI;
//   - patterns are RE2; all of them together compile to at most MaxPatternSteps instructions, and reading their classes of
//     characters takes at most MaxPatternParse: about 40 Unicode classes, or 5 inside brackets;
//   - at most MaxSchemaBytes in canonical form, nested at most MaxSchemaDepth deep, the outermost counted as 1;
//   - the JSON pointers to the schemas inside take at most MaxPlaces bytes, for the library makes strings of them: that is
//     more than any schema has whose names are not thousands of bytes long.
//
// format and the content keywords are annotations. Keywords that 2020-12 does not know are ignored whatever they hold,
// definitions, dependencies, $recursiveRef, $recursiveAnchor and $vocabulary among them: the library does not see them.
//
// What Check bounds: where the number of JSON values in the schema times the bytes of the instance's canonical form exceeds
// MaxWork, nothing is validated and the answer is too-large; likewise where the instructions of its patterns times those
// bytes exceed MaxPatternWork. A schema is a tree, so each of its positions meets each value of the instance at most once,
// and the first product bounds everything but patterns, which can cost a thousand times their length.
//
// The worst that we could construct at these limits, on one core: bounds that refuse every number take 0.12 s and 63 MB, a
// multipleOf with exponents of 300 on either side 0.1 s and 65 MB, anyOf or allOf of thousands of schemas 0.1 s and 77 MB, the
// rest less: const, enum and uniqueItems 30 ms, patterns 25 ms, nested anyOf 1 ms (BenchmarkHostile). Of that memory up to
// 30 MB are in use at once. Compiling takes 0.1 ms for an ordinary schema, at most 0.1 s and 37 MB for 16 KiB
// (BenchmarkCompile), and the result keeps at most 6 MB. Valid, which builds nothing, takes at most 30 ms: for as many hostile
// schemas as the body of a command has room for, 0.8 s.
//
// Numbers are the decimals that canonical JSON writes, never floats. Outcome, pointer and message depend on schema and instance
// alone.
package nodeschema
