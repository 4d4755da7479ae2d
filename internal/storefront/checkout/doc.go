// Package checkout sells one offer to one buyer on the processor's hosted
// page. It charges nothing itself: the truth about money is the processor's,
// and a session here is a projection of it.
//
//	Create ──1 transaction──> creating ──processor opens a page──> open
//	                                       |
//	                 webhook, visit, read, sweep: reconcile asks the processor
//	                                       |
//	      +-------------------+------------+-----------+
//	      v                   v                        v
//	  completed           processing                expired
//	  (order made)    (delayed method)        (by the processor)
//	                     |         |
//	                     v         v
//	                completed   canceled
//
// The moves are one table (moves, in session.go). Rules that hold throughout:
//
//   - reconcile is the only writer of money states, and the processor's word
//     its only evidence; our clock decides nothing;
//   - each network call has an intent on record before it and a job that
//     repeats it with the same key, so that a crash between any two steps
//     ends in the same place;
//   - a payment takes precedence: on a canceled or expired session it makes an
//     order in review, and a second payment is refunded at once;
//   - an update replaces the page; the session, its id and its link stay.
package checkout
