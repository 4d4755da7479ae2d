// Package audit is the record of who changed what on the platform.
//
//	a service changes something -> Entry, kept in the same transaction
//	     Hash of an entry = SHA-256 of the hash before it and of what it says
//	Verify walks the entries of an account and finds the first that was
//	changed, taken out or put in afterwards
//
// Entries hold names and ids, never secrets and never what a tool was called
// with.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Kinds of actors.
const (
	ByKey      = "key"      // an API key
	ByUser     = "user"     // a person who is signed in
	ByOperator = "operator" // the command line
	BySystem   = "system"   // the platform itself
)

// Actor is who did something.
type Actor struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`   // of the key or the user
	IP   string `json:"ip,omitempty"`   // of the request
	Name string `json:"name,omitempty"` // as people know it
}

// Operator is the actor of the command line.
func Operator() Actor { return Actor{Kind: ByOperator} }

// System is the actor of what happens by itself.
func System() Actor { return Actor{Kind: BySystem} }

// Entry is one change.
type Entry struct {
	AccountID string            `json:"account_id"`
	Seq       int64             `json:"seq"` // counts the entries of an account from 1
	At        time.Time         `json:"at"`  // to the millisecond
	Actor     Actor             `json:"actor"`
	Action    string            `json:"action"`           // for example "key.revoked"
	Target    string            `json:"target,omitempty"` // id of what was changed
	Detail    map[string]string `json:"detail,omitempty"`
	Hash      string            `json:"hash"` // of this entry and all before it
}

// New returns an entry of now.
func New(accountID string, actor Actor, action, target string, detail map[string]string) Entry {
	return Entry{
		AccountID: accountID, At: time.Now().UTC().Truncate(time.Millisecond), Actor: actor, Action: action,
		Target: target, Detail: detail,
	}
}

// Chained returns the entry as it follows one with the number and hash of
// before (0 and "" for the first of an account).
func (e Entry) Chained(seq int64, before string) (Entry, error) {
	e.Seq, e.Hash = seq+1, ""
	text, err := json.Marshal(e) // members of maps are sorted: the text is stable
	if err != nil {
		return e, fmt.Errorf("encoding an entry: %w", err)
	}
	sum := sha256.Sum256(append([]byte(before), text...))
	e.Hash = hex.EncodeToString(sum[:])
	return e, nil
}

// Query selects entries; empty members select all.
type Query struct {
	Action, Target, ActorID string
	Before                  int64 // entries older than this number; 0: the newest
	Limit                   int
}

// Store keeps entries. What changes something keeps its entry in the same
// transaction through the store of its own.
type Store interface {
	// AuditEntries returns entries of an account, newest first.
	AuditEntries(ctx context.Context, accountID string, q Query) ([]Entry, error)
	// CountAuditEntries returns how many entries q selects, on all pages.
	CountAuditEntries(ctx context.Context, accountID string, q Query) (int, error)
	// RecordAudit keeps an entry of its own, where nothing else changed.
	RecordAudit(ctx context.Context, e Entry) error
}

// Verify reads all entries of an account, oldest first, and returns the number
// of the first that does not follow from those before it, or 0.
func Verify(entries []Entry) (broken int64, err error) {
	var seq int64
	var hash string
	for _, e := range entries {
		want, err := e.Chained(seq, hash)
		if err != nil {
			return 0, err
		}
		if want.Seq != e.Seq || want.Hash != e.Hash {
			return seq + 1, nil
		}
		seq, hash = e.Seq, e.Hash
	}
	return 0, nil
}
