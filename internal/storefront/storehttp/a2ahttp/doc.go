// Package a2ahttp is the agent of the store over A2A 1.0: what it does with
// messages, the tasks that come of them, its card and its key set.
//
//	message ── part {"skill","action","input"} (ask.go)
//	   | only words            -> task input-required, which lists the actions
//	   | unknown action        -> task rejected
//	   | input off its schema  -> -32602, no task
//	   | skill site            -> the action -> task completed, one artifact (agent.go)
//	   └ skill checkout        -> task working -> the session -> input-required with
//	                              continue_url -> completed, canceled, failed (sale.go)
//
// A task is kept an hour, that of a checkout as long as the session is open. Who
// knows its id may read and cancel it; lists are of one context. The same message
// in the same context is the same task (turn.go).
package a2ahttp
