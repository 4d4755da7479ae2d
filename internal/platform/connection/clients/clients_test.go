package clients_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
)

// memory is a clients.Store in memory.
type memory struct {
	mu      sync.Mutex
	rows    map[[3]string]clients.Sealed
	entries []audit.Entry
}

func (m *memory) KeepClient(_ context.Context, c *clients.Sealed, e audit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[[3]string{c.AccountID, c.App, c.Issuer}] = *c
	if e.Action != "" {
		m.entries = append(m.entries, e)
	}
	return nil
}

func (m *memory) Client(_ context.Context, accountID, appID, issuer string) (*clients.Sealed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.rows[[3]string{accountID, appID, issuer}]
	if !ok {
		return nil, nil
	}
	return &c, nil
}

func (m *memory) Clients(_ context.Context, accountID string) (list []*clients.Sealed, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, c := range m.rows {
		if key[0] == accountID {
			list = append(list, &c)
		}
	}
	return list, nil
}

func (m *memory) BreakClient(_ context.Context, c *connection.Client) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [3]string{c.AccountID, c.App, c.Issuer}
	if kept, ok := m.rows[key]; ok && kept.ID == c.ID {
		kept.Broken = true
		m.rows[key] = kept
	}
	return nil
}

func (m *memory) DeleteClient(_ context.Context, accountID, appID, issuer string, _ audit.Entry) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [3]string{accountID, appID, issuer}
	_, ok := m.rows[key]
	delete(m.rows, key)
	return ok, nil
}

func setup(t *testing.T) (*clients.Clients, *memory) {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{rows: map[[3]string]clients.Sealed{}}
	return clients.New(m, box), m
}

func TestFind(t *testing.T) {
	t.Parallel()
	keeper, m := setup(t)
	for _, c := range []*connection.Client{
		{App: "gmail", ID: "operator", Secret: "s3cret-o", Extra: map[string]string{"developer_token": "canary"}},
		{App: "gmail", AccountID: "acc_a", ID: "own", Secret: "s3cret-a"},
		{App: "mcp", AccountID: "acc_a", Issuer: "https://as.example", ID: "registered", Secret: "s3cret-r"},
	} {
		if err := keeper.Store(t.Context(), audit.Operator(), c); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		account, app string
		want         *connection.Client
	}{
		{"acc_a", "gmail", &connection.Client{App: "gmail", AccountID: "acc_a", ID: "own", Secret: "s3cret-a"}},
		{"acc_b", "gmail", &connection.Client{
			App: "gmail", ID: "operator", Secret: "s3cret-o",
			Extra: map[string]string{"developer_token": "canary"},
		}},
		{"acc_b", "slack", nil},
		{"acc_a", "mcp", nil}, // an issuer's client is for that issuer alone
	}
	for _, tt := range tests {
		got, err := keeper.Find(t.Context(), tt.account, tt.app)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("Find(%s, %s): %v (-want +got):\n%s", tt.account, tt.app, err, diff)
		}
	}
	if got, err := keeper.Registered(t.Context(), "acc_a", "mcp", "https://as.example"); err != nil ||
		got.ID != "registered" {
		t.Errorf("Registered = %v, %v", got, err)
	}
	if got, err := keeper.Registered(t.Context(), "acc_a", "mcp", "https://evil.example"); err != nil || got != nil {
		t.Errorf("Registered with another issuer = %v, %v, want none", got, err)
	}
	for _, row := range m.rows {
		if text := fmt.Sprintf("%+v %#v", row, row); strings.Contains(text, "s3cret") || strings.Contains(text,
			"canary") {
			t.Errorf("kept in the clear: %s", text)
		}
	}
	if len(m.entries) != 2 || m.entries[0].Action != "oauth_client.set" {
		t.Errorf("recorded %+v, want the account's two", m.entries)
	}
}

func TestMovedClientsDoNotOpen(t *testing.T) {
	t.Parallel()
	keeper, m := setup(t)
	if err := keeper.Store(t.Context(), audit.Operator(),
		&connection.Client{App: "gmail", AccountID: "acc_a", ID: "own", Secret: "s"}); err != nil {
		t.Fatal(err)
	}
	stolen := m.rows[[3]string{"acc_a", "gmail", ""}]
	stolen.AccountID = "acc_b"
	m.rows[[3]string{"acc_b", "gmail", ""}] = stolen
	if got, err := keeper.Find(t.Context(), "acc_b", "gmail"); err == nil {
		t.Errorf("another account opened %v", got)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	keeper, m := setup(t)
	tests := map[string]*connection.Client{
		"no app": {ID: "x"}, "no id": {App: "gmail"}, "a long id": {App: "gmail", ID: strings.Repeat("x", 1001)},
		"a long secret": {App: "gmail", ID: "x", Secret: strings.Repeat("x", 20001)},
	}
	for name, c := range tests {
		if err := keeper.Store(t.Context(), audit.Operator(), c); !problem.Is(err, "invalid_oauth_client") {
			t.Errorf("%s: %v, want invalid_oauth_client", name, err)
		}
	}
	c := &connection.Client{App: "gmail", ID: "one", Secret: "s"}
	if err := keeper.StoreAll(t.Context(), []*connection.Client{c}); err != nil {
		t.Fatal(err)
	}
	if err := keeper.MarkBroken(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	// Storing the same client again changes nothing; another one replaces the broken one.
	for _, tt := range []struct {
		id     string
		broken bool
	}{{"one", true}, {"two", false}} {
		if err := keeper.StoreAll(t.Context(),
			[]*connection.Client{{App: "gmail", ID: tt.id, Secret: "s"}}); err != nil {
			t.Fatal(err)
		}
		if got := m.rows[[3]string{"", "gmail", ""}]; got.Broken != tt.broken || got.ID != tt.id {
			t.Errorf("after setting %s: %s, broken %v", tt.id, got.ID, got.Broken)
		}
	}
	if err := keeper.MarkBroken(t.Context(), nil); err != nil {
		t.Errorf("MarkBroken of none: %v", err)
	}
	if err := keeper.Delete(t.Context(), audit.Operator(), "acc_a", "gmail"); !problem.Is(err,
		"oauth_client_not_found") {
		t.Errorf("Delete of none: %v", err)
	}
	if list, err := keeper.List(t.Context(), ""); err != nil || len(list) != 1 || list[0].Secret != "s" {
		t.Errorf("List = %v, %v", list, err)
	}
}

func TestFindRemembersForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, m := setup(t)
		box, err := seal.New(make([]byte, seal.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := clients.New(m, box) // another replica
		find := func(want string) {
			t.Helper()
			got, err := here.Find(t.Context(), "acc_a", "gmail")
			if id := ""; err != nil || got != nil && got.ID != want || got == nil && want != id {
				t.Errorf("Find = %v, %v, want %q", got, err, want)
			}
		}
		find("")
		if err := here.Store(t.Context(), audit.Operator(), &connection.Client{App: "gmail", ID: "one"}); err != nil {
			t.Fatal(err)
		}
		find("one")
		if err := elsewhere.Store(t.Context(), audit.Operator(),
			&connection.Client{App: "gmail", ID: "two"}); err != nil {
			t.Fatal(err)
		}
		find("one")
		time.Sleep(5 * time.Second)
		find("two")
	})
}
