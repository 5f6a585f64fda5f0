// Package logfile reads and writes commands as lines of JSON: the format of
// fold, ingest, export and of the files in testdata (DESIGN 4).
//
//	{"contract", "principal", "id"?, "type"?, "at"?, "seq"?, "command": {...}}
//
// One line is one message. What each member means:
//
//	contract, principal   ids, in plain text; together with the type they make the subject
//	type                  the subject's type; without it the type of the command
//	subject               instead of the three above, for a subject that does not parse;
//	                      subjectBase64 where it is not UTF-8
//	command               the body is its canonical JSON (RFC 8785)
//	raw                   instead of command, for any other body; rawBase64 where it is not UTF-8
//	id                    the header Aiws-Command-Id; absent: no header, "": an empty header
//	ids                   instead of id, a header given several times; idsBase64 where one is not UTF-8
//	at                    the stream timestamp, integer milliseconds
//	seq                   the stream sequence; without it the line's count
//	decision              the recorded decision, in an export with decisions only
//
// Reading is strict: an unknown member, a member of the wrong type or a number
// out of range is an [Error] that names the line and the place. Blank lines are
// skipped and not counted.
//
// What is written reads back as the same message, except that the stamp keeps
// whole milliseconds: all that a rule ever sees of it (RULES 1).
package logfile
