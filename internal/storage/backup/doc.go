// Package backup copies a whole database: to files and back, or from one engine
// to the other. Rows are written as the portable schema knows them, so that a
// backup of SQLite restores into PostgreSQL as well.
//
//	Write:  one snapshot ──> table.jsonl.gz for each table ──> manifest.json, last
//	Verify: manifest ──> each file: its checksum, its rows, their digest
//	Load:   an empty database, schema of the backup ──> all rows in one transaction
//	        ──> the rows that are there now have the digests of the manifest
//	        ──> newest schema
//	Move:   snapshot of one database ──> all rows in one transaction of the other
//	        ──> equal digests
//
// The digest of a table is the sum of the SHA-256 of its rows, modulo 2^256: it
// does not depend on the order of the rows, which engines sort differently.
// A backup holds secrets only as the vault has sealed them, and never the key
// that wraps the keys of the vault.
package backup
