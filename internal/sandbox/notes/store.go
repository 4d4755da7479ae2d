package notes

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
)

const noteColumns = `id, seq, title, body, created_at, updated_at`

func scanNote(scan func(...any) error) (*note, error) {
	n := &note{}
	var created, updated int64
	if err := scan(&n.ID, &n.seq, &n.Title, &n.Body, &created, &updated); err != nil {
		return nil, err
	}
	n.CreatedAt, n.UpdatedAt = stamp(created), stamp(updated)
	return n, nil
}

// list returns notes of a person, newest first, before a number; search looks
// into titles and texts.
func (n *Notes) list(ctx context.Context, person, search string, before int64, limit int) ([]*note, error) {
	rows, err := n.db.Reader().QueryContext(ctx,
		`SELECT `+noteColumns+
			` FROM notes_note WHERE person = $1 AND (CAST($2 AS BIGINT) = 0 OR seq < $2) ORDER BY seq DESC`, person,
		before)
	if err != nil {
		return nil, fmt.Errorf("listing notes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := []*note{}
	for rows.Next() && len(all) < limit {
		one, err := scanNote(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("reading a note: %w", err)
		}
		if search == "" || strings.Contains(strings.ToLower(one.Title+"\n"+one.Body), strings.ToLower(search)) {
			all = append(all, one)
		}
	}
	return all, rows.Err()
}

// get returns nil for a note that is not there or is another's.
func (n *Notes) get(ctx context.Context, person, id string) (*note, error) {
	one, err := scanNote(n.db.Reader().QueryRowContext(ctx,
		`SELECT `+noteColumns+` FROM notes_note WHERE id = $1 AND person = $2`, id, person).Scan)
	if ok, err := found(err); err != nil || !ok {
		return nil, err
	}
	return one, nil
}

func (n *Notes) create(ctx context.Context, person, title, body string) (*note, error) {
	var one *note
	at := now()
	err := n.db.Tx(ctx, func(tx *sql.Tx) (err error) {
		one, err = scanNote(tx.QueryRowContext(ctx,
			`INSERT INTO notes_note (id, seq, person, title, body, created_at, updated_at)
			VALUES ($1, (SELECT COALESCE(MAX(seq), 0) + 1 FROM notes_note), $2, $3, $4, $5, $5) RETURNING `+noteColumns,
			typeid.New("note"), person, title, body, at).Scan)
		if err != nil {
			return fmt.Errorf("keeping a note: %w", err)
		}
		return n.announce(ctx, tx, person, "new_note", one)
	})
	n.nudge()
	return one, err
}

// change returns nil for a note that is not there.
func (n *Notes) change(ctx context.Context, person, id string, title, body *string) (*note, error) {
	var one *note
	err := n.db.Tx(ctx, func(tx *sql.Tx) error {
		changed, err := scanNote(tx.QueryRowContext(
			ctx,
			`UPDATE notes_note SET title = COALESCE(CAST($3 AS TEXT), title), body = COALESCE(CAST($4 AS TEXT),
				body), updated_at = $5
			WHERE id = $1 AND person = $2 RETURNING `+noteColumns,
			id,
			person,
			title,
			body,
			now(),
		).Scan)
		if ok, err := found(err); err != nil || !ok {
			return err
		}
		one = changed
		return n.announce(ctx, tx, person, "updated_note", one)
	})
	n.nudge()
	return one, err
}

func (n *Notes) remove(ctx context.Context, person, id string) (bool, error) {
	var gone bool
	err := n.db.Tx(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM notes_note WHERE id = $1 AND person = $2`, id, person)
		if err != nil {
			return fmt.Errorf("deleting a note: %w", err)
		}
		rows, err := result.RowsAffected()
		gone = rows > 0
		return err
	})
	return gone, err
}

// hook is where a person wants events to go.
type hook struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	Secret    string   `json:"secret,omitempty"` // of a new one alone
	Events    []string `json:"events"`
	CreatedAt string   `json:"created_at"`
}

func (n *Notes) addHook(ctx context.Context, person, url string, events []string) (*hook, error) {
	at := now()
	h := &hook{ID: typeid.New("hook"), URL: url, Secret: secret("nws"), Events: events, CreatedAt: stamp(at)}
	encoded, err := json.Marshal(events)
	if err != nil {
		return nil, fmt.Errorf("encoding events: %w", err)
	}
	return h, n.write(ctx,
		`INSERT INTO notes_hook (id, person, url, secret, events, created_at) VALUES ($1, $2, $3, $4, $5, $6)`, h.ID,
		person, url, h.Secret, string(encoded), at)
}

func (n *Notes) removeHook(ctx context.Context, person, id string) (bool, error) {
	var gone bool
	err := n.db.Tx(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM notes_hook WHERE id = $1 AND person = $2`, id, person)
		if err != nil {
			return fmt.Errorf("deleting a hook: %w", err)
		}
		rows, err := result.RowsAffected()
		gone = rows > 0
		return err
	})
	return gone, err
}

// announce puts an event into the queue of each hook that wants it, in the
// transaction of the change.
func (n *Notes) announce(ctx context.Context, tx *sql.Tx, person, event string, about *note) error {
	hooks, err := hooksFor(ctx, tx, person, event)
	if err != nil {
		return err
	}
	for _, id := range hooks {
		delivery := typeid.New("dlv")
		body, err := json.Marshal(map[string]any{
			"id": delivery, "event": event, "note": about,
			"sent_at": stamp(now()),
		})
		if err != nil {
			return fmt.Errorf("encoding an event: %w", err)
		}
		if _, err := tx.ExecContext(ctx,
			`INSERT INTO notes_delivery (id, hook_id, event, body, attempts, due_at) VALUES ($1, $2, $3, $4, 0, $5)`,
			delivery, id, event, string(body), now()); err != nil {
			return fmt.Errorf("keeping an event: %w", err)
		}
	}
	return nil
}

// hooksFor returns the ids of the hooks that want an event.
func hooksFor(ctx context.Context, tx *sql.Tx, person, event string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, events FROM notes_hook WHERE person = $1`, person)
	if err != nil {
		return nil, fmt.Errorf("looking for hooks: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var hooks []string
	for rows.Next() {
		var id, events string
		if err := rows.Scan(&id, &events); err != nil {
			return nil, fmt.Errorf("reading a hook: %w", err)
		}
		if strings.Contains(events, `"`+event+`"`) {
			hooks = append(hooks, id)
		}
	}
	return hooks, rows.Err()
}

func (n *Notes) nudge() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run delivers webhooks until ctx ends: three attempts, one second and ten
// seconds apart.
func (n *Notes) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-tick.C:
		}
		for ctx.Err() == nil && n.deliverOne(ctx) {
		}
	}
}

// deliverOne posts the event that is due for longest; false: none is.
func (n *Notes) deliverOne(ctx context.Context) bool {
	var id, url, key, event, body string
	var attempts int
	ok, err := found(n.db.Reader().QueryRowContext(ctx,
		`SELECT d.id, h.url, h.secret, d.event, d.body, d.attempts FROM notes_delivery d JOIN notes_hook h ON h.id =
			d.hook_id
		WHERE d.due_at <= $1 ORDER BY d.due_at, d.id LIMIT 1`, now()).
		Scan(&id, &url, &key, &event, &body, &attempts))
	if err != nil || !ok {
		return false
	}
	waits := []time.Duration{time.Second, 10 * time.Second}
	delivered := n.post(ctx, id, url, key, event, body)
	if delivered || attempts >= len(waits) {
		err = n.write(ctx, `DELETE FROM notes_delivery WHERE id = $1`, id)
	} else {
		err = n.write(ctx, `UPDATE notes_delivery SET attempts = attempts + 1, due_at = $2 WHERE id = $1`,
			id, now()+waits[attempts].Milliseconds())
	}
	if err != nil {
		n.options.Logger.ErrorContext(ctx, "noting a delivery of the demo app", "error", err)
		return false
	}
	return true
}

func (n *Notes) post(ctx context.Context, id, url, key, event, body string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Notes/1.0 (sandbox)")
	req.Header.Set("X-Notes-Event", event)
	req.Header.Set("X-Notes-Delivery", id)
	req.Header.Set("X-Notes-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := n.options.Client.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode >= 200 && res.StatusCode < 300
}
