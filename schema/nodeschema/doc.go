// Package nodeschema compiles and applies the JSON Schemas of a graph's nodes (RULES 10, registerGraph) and of a plan's
// capabilities: JSON Schema 2020-12 without references, within limits that make a hostile schema or value harmless.
//
// What Compile accepts:
//
//   - a schema that is valid under the 2020-12 meta-schema;
//   - none of $ref, $dynamicRef, $id, $anchor, $dynamicAnchor, $defs where a keyword stands; a property of that name, or one
//     inside const, enum, default, examples or an unknown keyword, is no keyword;
//   - $schema, where there is one, is the 2020-12 URI;
//   - patterns are RE2; all of them together compile to at most MaxPatternSteps instructions, and reading their classes of
//     characters takes at most MaxPatternParse: about 40 Unicode classes, or 5 inside brackets;
//   - at most MaxSchemaBytes in canonical form, nested at most MaxSchemaDepth deep, the outermost counted as 1.
//
// format and the content keywords are annotations. Keywords that 2020-12 does not know are ignored whatever they hold,
// definitions, dependencies, $recursiveRef, $recursiveAnchor and $vocabulary among them.
//
// What Check bounds: where the number of JSON values in the schema times the bytes of the instance's canonical form exceeds
// MaxWork, nothing is validated and the answer is too-large; likewise where the instructions of its patterns times those
// bytes exceed MaxPatternWork. A schema is a tree, so each of its positions meets each value of the instance at most once,
// and the first product bounds everything but patterns, which can cost a thousand times their length.
//
// The worst that we could construct at these limits takes 5 ms and 9 MB, with patterns 25 ms (BenchmarkHostile, one core).
// Compiling 16 KiB takes 0.2 ms, or 1 ms where it is patterns at their limit. Valid builds no pattern; on as many hostile
// schemas as the body of a command has room for it takes at most 0.8 s (TestHostilePatterns), on ordinary ones 20 ms.
//
// Numbers are compared as the decimals that canonical JSON writes, without floats. The outcome, the pointer and the message
// depend on schema and instance alone: the instance is walked in canonical order, keywords in a fixed one.
//
// Why no library: the general validators compare numbers as big rationals, collect every error, follow map order and take
// counts modulo 2^64. At the first limit alone the best of them took 260 ms and 250 MB, its patterns 23 seconds. And none can
// leave open what is not known yet, which plans need (CheckPartly). It is the oracle of this package's tests.
package nodeschema
