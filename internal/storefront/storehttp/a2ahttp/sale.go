package a2ahttp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/a2a"
	"ace/internal/storefront/checkout"
)

// createInput is the input of create_checkout. What makes a repetition safe is
// the id of the message.
type createInput struct {
	OfferID    string `json:"offer_id" minLength:"1" maxLength:"255" doc:"id of the offer, as list_products answers it."`
	Quantity   int64  `json:"quantity,omitempty" default:"1" minimum:"1" maximum:"1000000" doc:"How many."`
	BuyerEmail string `json:"buyer_email,omitempty" format:"email" maxLength:"320" doc:"Fills in the payment page. Only with the person's consent."`
}

// The bounds of createInput.
const (
	maxOfferID  = 255
	maxEmail    = 320
	maxQuantity = 1_000_000
)

func createSchema() json.RawMessage { return openapi.InputSchemaOf[createInput]() }

// lostAfter is when a task whose session was never made counts as failed: the
// request that was to make it is long over.
const lostAfter = 2 * time.Minute

// sell notes which session a task is about, then opens it. Should the process
// end in between, a reader of the task finds the session, and a repetition of
// the message continues it.
func (f *Handler) sell(ctx context.Context, t *turn, rec a2a.Record, asked ask) (a2a.Record, error) {
	rec.Ref = typeid.New("chk")
	rec, err := f.settle(ctx, t, rec, a2a.Working)
	if err != nil {
		return rec, err
	}
	return f.open(ctx, t, rec, asked)
}

// open creates the session of a task, or continues it.
func (f *Handler) open(ctx context.Context, t *turn, rec a2a.Record, asked ask) (a2a.Record, error) {
	o, err := jsonread.Read(asked.input)
	if err != nil {
		return rec, err
	}
	quantity, _ := o.Int("quantity", 1, maxQuantity)
	session, err := f.Sales.Create(ctx, checkout.Request{
		ID: rec.Ref, Protocol: checkout.A2A, OfferID: o.Text("offer_id", maxOfferID), Quantity: quantity,
		Buyer: checkout.Buyer{Email: o.Text("buyer_email", maxEmail)}, Agent: f.Clients.Agent(ctx, t.header),
	})
	switch {
	case err == nil:
	case problem.Is(err, "checkout_in_flight"):
		return rec, nil // it is working on it
	default:
		return f.unsold(ctx, t, rec, err)
	}
	now, err := f.follow(ctx, rec, session)
	if errors.Is(err, a2a.ErrVersion) { // read, repeated or canceled meanwhile
		return f.current(ctx, rec)
	}
	return now, err
}

// unsold is what becomes of a task whose session cannot be made: nothing that
// may pass, for then a repetition of the message continues.
func (f *Handler) unsold(ctx context.Context, t *turn, rec a2a.Record, err error) (a2a.Record, error) {
	p := httpserver.ProblemOf(ctx, err)
	if p.Kind == problem.Internal || p.Kind.Temporary() {
		return rec, a2a.FromProblem(ctx, p)
	}
	parts, err := t.refusal(p)
	if err != nil {
		return rec, err
	}
	if err := rec.Task.Move(a2a.Rejected, time.Now(), parts...); err != nil {
		return rec, err
	}
	return f.storeTask(ctx, rec, nil)
}

// wait handles a message to a task that waits for a payment: all there is to
// say is how it stands.
func (f *Handler) wait(ctx context.Context, t *turn, rec a2a.Record, asked ask) (a2a.Record, error) {
	if asked.action != nil || asked.unknown != "" {
		return rec, a2a.InvalidParams(a2a.FieldViolation{
			Field: "message.taskId",
			Description: "The task waits for the payment of its checkout and takes no further request. Send it " +
				"without taskId.", Reason: "TASK_WAITS",
		})
	}
	session, err := f.Sales.Get(ctx, rec.Ref)
	if err != nil {
		return rec, err
	}
	return f.tell(ctx, rec, session, &t.sent)
}

// current brings the task of a checkout to the state of its session.
func (f *Handler) current(ctx context.Context, rec a2a.Record) (a2a.Record, error) {
	for range maxRaces {
		now, err := f.bring(ctx, rec)
		if !errors.Is(err, a2a.ErrVersion) {
			return now, err
		}
		if rec, err = f.task(ctx, rec.Task.ID); err != nil { // somebody else was faster
			return rec, err
		}
	}
	return rec, errBusy()
}

func (f *Handler) bring(ctx context.Context, rec a2a.Record) (a2a.Record, error) {
	state := rec.Task.Status.State
	if rec.Ref == "" || state == a2a.Completed || state == a2a.Rejected {
		return rec, nil
	}
	session, err := f.Sales.Get(ctx, rec.Ref)
	switch {
	case err == nil:
		return f.follow(ctx, rec, session)
	case problem.Is(err, "checkout_in_flight"):
		return rec, nil
	case !problem.Is(err, "checkout_not_found"):
		return rec, err
	case state != a2a.Working || time.Since(rec.Task.Status.Timestamp.Time) < lostAfter:
		return rec, nil
	}
	if err := rec.Task.Move(a2a.Failed, time.Now(),
		a2a.TextPart(
			"The payment page could not be opened. Nothing was charged. Send a new message to try again.")); err !=
		nil {
		return rec, err
	}
	return f.storeTask(ctx, rec, nil)
}

// follow moves a task to the state of its session, if that differs. A task
// that is over stays so, unless the session turns out to be paid.
func (f *Handler) follow(ctx context.Context, rec a2a.Record, session *checkout.Session) (a2a.Record, error) {
	status := rec.Task.Status
	if status.State == a2a.Canceled && session.State == checkout.Open {
		// The client took its wish back while the page was being opened.
		_, err := f.Sales.Cancel(ctx, rec.Ref, "")
		if problem.Is(err, "checkout_not_modifiable") { // it has just ended
			err = nil
		}
		return rec, err
	}
	to := stateOf(session)
	same := to == status.State && !session.UpdatedAt.After(status.Timestamp.Time)
	if same || status.State.Terminal() && to != a2a.Completed {
		return rec, nil
	}
	return f.tell(ctx, rec, session, nil)
}

// tell moves a task to the state of its session, says what that means, and
// keeps it.
func (f *Handler) tell(ctx context.Context, rec a2a.Record, session *checkout.Session,
	sent *a2a.Sent,
) (a2a.Record, error) {
	shown, err := f.Show(ctx, session)
	if err != nil {
		return rec, err
	}
	data := a2a.DataPart(trimmed(shown))
	to := stateOf(session)
	at := time.Now()
	if session.UpdatedAt.After(at) { // in the time of another replica
		at = session.UpdatedAt
	}
	parts := []a2a.Part{a2a.TextPart(f.words(session))}
	rec.ExpiresAt = time.Time{}
	switch to {
	case a2a.InputRequired:
		parts = append(parts, a2a.URLPart(f.ContinueURL(session), "text/html"), data)
		rec.ExpiresAt = session.ExpiresAt().Add(keepFor)
	case a2a.Completed:
		rec.Task.Artifacts = []a2a.Artifact{{ArtifactID: "result", Name: actionCreate, Parts: []a2a.Part{data}}}
	default:
		parts = append(parts, data)
	}
	if err := rec.Task.Move(to, at, parts...); err != nil {
		return rec, err
	}
	return f.storeTask(ctx, rec, sent)
}

// stateOf is the state of the task of a session.
func stateOf(session *checkout.Session) a2a.State {
	switch session.State {
	case checkout.Open:
		return a2a.InputRequired
	case checkout.Completed:
		return a2a.Completed
	case checkout.Expired:
		return a2a.Failed
	case checkout.Canceled:
		if session.Ending == checkout.EndingPaymentFailed || session.Ending == checkout.EndingSoldOut {
			return a2a.Failed
		}
		return a2a.Canceled
	default: // its page is being opened, or the money is on its way
		return a2a.Working
	}
}

// words say the state of a session and what to do.
func (f *Handler) words(session *checkout.Session) string {
	switch session.State {
	case checkout.Open:
		return "Send the person to " + f.ContinueURL(session) + " to pay, until " +
			session.ExpiresAt().UTC().Format(time.RFC3339) +
			". Nothing is charged before. Read the task by GetTask to learn when it is paid."
	case checkout.Processing:
		return "The person has paid by a method that takes a while. The task is completed when the money has " +
			"arrived; read it again later."
	case checkout.Completed:
		return "Paid. The order is " + session.OrderID + "."
	case checkout.Expired:
		return "The payment page has expired. Nothing was charged. Send a new message to start another purchase."
	case checkout.Canceled:
		switch session.Ending {
		case checkout.EndingPaymentFailed:
			return "The payment has failed. Nothing was charged. Send a new message to start another purchase."
		case checkout.EndingSoldOut:
			return "The offer was sold out before it was paid. Nothing is kept of a payment. Send a new message to " +
				"buy something else."
		}
		return "The checkout was canceled. Nothing was charged."
	default:
		return "The payment page is being opened."
	}
}

// abandon cancels the checkout of a task.
func (f *Handler) abandon(ctx context.Context, rec a2a.Record) (a2a.Record, error) {
	session, err := f.Sales.Cancel(ctx, rec.Ref, "")
	p, known := problem.From(err)
	switch {
	case err == nil:
		return f.follow(ctx, rec, session)
	case known && p.Code == "checkout_not_found": // it was not made yet, and will be canceled if it is
		if err := rec.Task.Move(a2a.Canceled, time.Now(),
			a2a.TextPart("The checkout was canceled. Nothing was charged.")); err != nil {
			return rec, err
		}
		return f.storeTask(ctx, rec, nil)
	case known && p.Kind == problem.Conflict:
		return rec, a2a.NewError(a2a.CodeTaskNotCancelable, p.Detail, "taskId", rec.Task.ID)
	}
	return rec, err
}
