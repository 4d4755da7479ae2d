package platformstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connector"
	"ace/internal/platform/openapiimport"
	"ace/internal/storage/platformstore"
)

func newConnector(accountID, id, slug string) *connector.Connector {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return &connector.Connector{
		ID: id, AccountID: accountID, Slug: slug, Type: connector.TypeREST, Name: "Acme",
		Base: "https://api.acme.example", Status: connector.Importing, Enabled: true,
		Settings: connector.Settings{
			BaseURL: "https://api.acme.example",
			Auth:    connector.Auth{Kind: connector.AuthHeader, Name: "X-Api-Key"}, Include: []string{"get_*"},
		},
		Tools: []*connector.Tool{
			{Tool: &app.Tool{
				Name: "get_it", Call: "GET /it",
				In:          app.Inputs{{Name: "id", Schema: map[string]any{"type": "string"}}},
				InputSchema: []byte(`{"type":"object"}`),
			}, Digest: "d1"},
		},
		Skipped: []openapiimport.Skipped{{Operation: "GET /x", Code: "deprecated", Detail: "Gone."}}, CreatedAt: at,
		UpdatedAt: at, Revision: 1,
	}
}

func TestConnectors(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *platformstore.Store) {
		ctx := t.Context()
		_, ann, _ := newAccount(t, s, "ann", "ann@acme.example")
		_, bob, _ := newAccount(t, s, "bob", "bob@acme.example")
		entry := func(action, id string) audit.Entry {
			return audit.New(ann.ID, audit.Operator(), action, id, nil)
		}
		if version, err := s.ConnectorVersion(ctx, ann.ID); err != nil || version != "" {
			t.Errorf("version of nothing = %q, %v", version, err)
		}
		c := newConnector(ann.ID, "ccn_1", "x-acme")
		if err := s.InsertConnector(ctx, c, 2, entry("connector.made", c.ID)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Connector(ctx, ann.ID, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(app.Ordered[string]{})); diff != "" {
			t.Errorf("connector (-want +got):\n%s", diff)
		}
		if err := s.InsertConnector(ctx, newConnector(ann.ID, "ccn_2", "x-acme"),
			2, entry("connector.made", "ccn_2")); !problem.Is(err, "slug_taken") {
			t.Errorf("the same slug: %v, want slug_taken", err)
		}
		if err := s.InsertConnector(ctx, newConnector(ann.ID, "ccn_3", "x-other"),
			1, entry("connector.made", "ccn_3")); !problem.Is(err, "too_many_connectors") {
			t.Errorf("one too many: %v, want too_many_connectors", err)
		}
		if err := s.InsertConnector(ctx, newConnector(bob.ID, "ccn_4", "x-acme"),
			2, audit.New(bob.ID, audit.Operator(), "connector.made", "ccn_4", nil)); err != nil {
			t.Errorf("the same slug of another account: %v", err)
		}
		if _, err := s.Connector(ctx, bob.ID, c.ID); !problem.Is(err, "custom_connector_not_found") {
			t.Errorf("another account reads: %v", err)
		}
		before, _ := s.ConnectorVersion(ctx, ann.ID)
		c.Status, c.Name = connector.Ready, "Acme 2"
		if saved, err := s.SaveConnector(ctx, c, entry("connector.changed", c.ID)); err != nil || !saved {
			t.Errorf("SaveConnector = %t, %v", saved, err)
		}
		if saved, err := s.SaveConnector(ctx, c, entry("connector.changed", c.ID)); err != nil || saved {
			t.Errorf("SaveConnector of an old revision = %t, %v; want false", saved, err)
		}
		if after, _ := s.ConnectorVersion(ctx, ann.ID); after == before {
			t.Error("a change leaves the version as it was")
		}
		if list, err := s.Connectors(ctx, ann.ID); err != nil || len(list) != 1 || list[0].Name != "Acme 2" ||
			list[0].Revision != 2 {
			t.Errorf("Connectors = %v, %v", list, err)
		}
		if err := s.DeleteConnector(ctx, bob.ID, c.ID, audit.Entry{}); !problem.Is(err, "custom_connector_not_found") {
			t.Errorf("another account deletes: %v", err)
		}
		if err := s.DeleteConnector(ctx, ann.ID, c.ID, entry("connector.deleted", c.ID)); err != nil {
			t.Error(err)
		}
		if said := actions(entries(t, s, ann.ID)); !slices.Contains(said, "connector.made") || !slices.Contains(said,
			"connector.deleted") {
			t.Errorf("audit = %v", said)
		}
	})
}
