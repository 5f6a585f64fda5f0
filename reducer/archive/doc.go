// Package archive keeps a second copy of a decision log in plain files, on
// another disk or machine: every block as it is on the log, byte for byte
// (DESIGN 2). A log that is lost is made again from it.
//
// An archive is a directory:
//
//	lock                      held by the process that writes the archive
//	00000000000000000001.seg  blocks from 1 on, about 64 MiB a file
//	00000000000000004711.seg  blocks from 4711 on
//	HEAD                      the last block that is known to be on disk
//	*.bad                     damaged files that were set aside; may be deleted
//
// # Segments
//
// A segment begins with a line of JSON, and then has for each block a line of
// JSON and the block itself, whose length the line gives:
//
//	{"aiwsArchive":1,"firstBlock":4711,"follows":"00000000000000000001.seg","followsBytes":67110201,"prevBlockHash":"5c0e..."}
//	{"block":4711,"bytes":812,"sha256":"b1a5..."}
//	{"build":...}            the 812 bytes of the block, as docs/formats.md describes them
//	...
//	{"block":4712,"bytes":2340,"sha256":"77d0..."}
//	...
//
// So a reader in any language reads a line, and as many bytes as it says, and
// again. It checks sha256, which is of those bytes, and the chain: the
// prevBlockHash that a block names is the hash of the block before it. The
// segment before is named with its size, so that a file that is missing or cut
// is seen without reading it all.
//
// # HEAD
//
//	{"block":4712,"blockHash":"9d41..."}
//	e3b0...
//
// The second line is the SHA-256 of the first with its line feed. HEAD is
// replaced after the segments were synced, so blocks up to the one that it names
// must be there. What comes after it may be torn by a crash, and is written
// again from the log.
//
// # What holds
//
//  1. A block is in the archive only when it is on the log.
//  2. A block is written only if it is whole and chained to the one before.
//  3. What HEAD names is never forgotten: if it cannot be read the archive says
//     so, and writes it again from the log, or the log is damaged too.
package archive
