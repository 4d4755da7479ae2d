package a2a

import (
	"context"
	"errors"
	"time"
)

// The errors of a Store that callers handle. All other errors are internal.
var (
	ErrNoTask  = errors.New("there is no such task")
	ErrVersion = errors.New("the task was changed by another request")
	ErrSent    = errors.New("the message was sent before")
)

// MaxOwned is the number of tasks without Ref that a Store retains for one owner. The least
// recently changed ones are deleted first.
const MaxOwned = 100

// Record is a task as it is stored.
type Record struct {
	Task Task
	// Scope identifies the list of the task: a context, or its substitute.
	Scope string
	// Owner is a keyed digest of the client that the task is stored for.
	Owner string
	// Ref is the id of the domain object that the task is about, or "".
	Ref     string
	Version int64 // increases with each change; 0: not stored yet
	// ExpiresAt is when the task may be deleted.
	ExpiresAt time.Time
}

// Sent identifies a message. Both fields are keyed digests.
type Sent struct {
	Key         string // of the conversation and the message id
	Fingerprint string // of the content
}

// Query selects the tasks of a scope, newest status first.
type Query struct {
	Scope string
	State State     // "": any
	Since time.Time // status not before; zero: any
	// Waiting selects tasks with a Ref that are in no terminal state.
	Waiting bool
	After   Position // zero: from the start
	Limit   int
}

// Position is a position in a list.
type Position struct {
	At time.Time // of the status
	ID string
}

// Store stores tasks for all replicas.
type Store interface {
	// Task returns a task, or ErrNoTask.
	Task(ctx context.Context, id string) (Record, error)
	// Sent returns the task of a message, and the fingerprint of the message, or ErrNoTask.
	Sent(ctx context.Context, key string) (rec Record, fingerprint string, err error)
	// Insert stores a task and the message that created it, in one transaction, as version 1. It
	// returns ErrSent, and stores nothing, if the message was sent before. Beyond MaxOwned, older
	// tasks of the same owner without Ref are deleted.
	Insert(ctx context.Context, rec Record, sent Sent) error
	// Save replaces a task that still has rec's version, which then increases by one, and stores
	// the message that changed it, if any. It returns ErrVersion if the task was changed or deleted
	// since it was read, and ErrSent like Insert.
	Save(ctx context.Context, rec Record, sent *Sent) error
	// List returns the tasks after a position, and the total number of tasks.
	List(ctx context.Context, q Query) (records []Record, total int, err error)
}
