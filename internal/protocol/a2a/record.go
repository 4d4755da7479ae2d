package a2a

import (
	"context"
	"errors"
	"time"
)

// What a Store refuses. Its other errors are faults.
var (
	ErrNoTask  = errors.New("there is no such task")
	ErrVersion = errors.New("the task was changed meanwhile")
	ErrSent    = errors.New("the message was sent before")
)

// MaxOwned is how many tasks without Ref a Store keeps for one owner. The ones
// that changed longest ago go first.
const MaxOwned = 100

// Record is a task as it is kept.
type Record struct {
	Task Task
	// Scope is the list that the task is in: a context, or what stands for it.
	Scope string
	// Owner is a keyed digest of whom the task is kept for.
	Owner string
	// Ref names what outside of the protocol the task is about; "": nothing.
	Ref     string
	Version int64 // grows with each change; 0: not kept yet
	// ExpiresAt is when the task may be forgotten.
	ExpiresAt time.Time
}

// Sent tells a message from all others. Both are keyed digests.
type Sent struct {
	Key         string // of the conversation and the id of the message
	Fingerprint string // of what it says
}

// Query asks for the tasks of a scope, newest status first.
type Query struct {
	Scope string
	State State     // "": any
	Since time.Time // status not before; zero: any
	// Waiting asks for tasks with a Ref that are in no terminal state.
	Waiting bool
	After   Position // zero: from the start
	Limit   int
}

// Position is a place in a list.
type Position struct {
	At time.Time // of the status
	ID string
}

// Store keeps tasks for all replicas.
type Store interface {
	// Task answers a task, or ErrNoTask.
	Task(ctx context.Context, id string) (Record, error)
	// Sent answers the task that a message went into, and the fingerprint that
	// the message had then; or ErrNoTask.
	Sent(ctx context.Context, key string) (rec Record, fingerprint string, err error)
	// Insert keeps a task and the message that asked for it, at once, as version
	// 1. It returns ErrSent, and keeps nothing, if the message was sent before.
	// Beyond MaxOwned, tasks of the same owner without Ref go.
	Insert(ctx context.Context, rec Record, sent Sent) error
	// Save replaces a task that still has rec's version, which then grows by
	// one, and keeps the message that changed it, if any. It returns ErrVersion
	// if it was changed meanwhile or is gone, and ErrSent like Insert.
	Save(ctx context.Context, rec Record, sent *Sent) error
	// List answers the tasks after a position, and how many there are in all.
	List(ctx context.Context, q Query) (records []Record, total int, err error)
}
