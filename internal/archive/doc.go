// Package archive keeps old entries of the log, and what their decisions were made from, in files: a static log as C2SP's
// tlog-tiles has it, which any client of such logs can read and verify, and beside it what only Interlock reads.
//
//	checkpoint                 the signed head of the entries up to the archive's end
//	log.pub                    the key that it is checked with
//	tile/0/000 …               hash tiles of all entries from the log's beginning
//	tile/entries/000 …         the entries' exact bytes, 256 in a bundle
//	inputs/000.jsonl.gz …      what the decisions of a bundle were made from, sealed where it was sealed
//	heads/000.jsonl.gz …       the signed heads that stood with the entries of a bundle
//	blobs/000000000256.jsonl.gz  texts that decisions share, by the end of the part that brought them
//	parts/000000000000-000000000256.json  what one archiving wrote, with the digest of each file
//
// Files appear whole or not at all and never change, but for checkpoint. The digest of the file in parts is in the event that
// says that the entries were archived. Start with Write, which makes an archive, and Open, which reads some.
package archive
