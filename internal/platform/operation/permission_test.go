package operation_test

import (
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/operation"
)

func keyed(p apikey.Permissions, r apikey.Restrictions) *operation.Caller {
	return &operation.Caller{Account: "acc_1", Key: &apikey.Key{ID: "key_1", Permissions: p, Restrict: r}}
}

func person(role account.Role) *operation.Caller {
	return &operation.Caller{Account: "acc_1", Session: &account.Session{User: account.User{ID: "usr_1", Role: role}}}
}

// TestTable: every operation has a name of its own and somebody who may call it.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]operation.ID{}
	for id := range operation.All() {
		if id.String() == "" {
			t.Errorf("operation %d has no line in the table", int(id))
			continue
		}
		if other, taken := seen[id.String()]; taken {
			t.Errorf("operations %d and %d are both called %s", int(other), int(id), id)
		}
		seen[id.String()] = id
		rule := id.Rule()
		if !rule.Open && !rule.Keys && !rule.People {
			t.Errorf("nobody may call %s", id)
		}
		if (rule.Manages || rule.Audits) && rule.Keys {
			t.Errorf("%s asks for a role, and keys have none", id)
		}
		if rule.RawRequests && rule.People {
			t.Errorf("%s asks for raw_requests, and people have none", id)
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d operations", len(seen))
	}
	var none operation.ID
	if none.Rule() != (operation.Rule{}) || none.String() != "" {
		t.Errorf("the zero operation is %q for %+v", none, none.Rule())
	}
	if err := operation.Authorize(keyed(apikey.All, apikey.Restrictions{}), none); err == nil {
		t.Error("the zero operation can be called")
	}
}

// TestMatrix is the matrix of permissions: for each kind of operation, who is
// refused and how.
func TestMatrix(t *testing.T) {
	t.Parallel()
	callers := []struct {
		name string
		c    *operation.Caller
	}{
		{"nobody", nil},
		{"read", keyed(apikey.Read, apikey.Restrictions{})},
		{"connect", keyed(apikey.Connect, apikey.Restrictions{})},
		{"run", keyed(apikey.Run, apikey.Restrictions{})},
		{"raw", keyed(apikey.Run, apikey.Restrictions{RawRequests: true})},
		{"owner", person(account.Owner)},
		{"admin", person(account.Admin)},
		{"member", person(account.Member)},
		{"auditor", person(account.Auditor)},
	}
	const (
		ok      = ""
		noKey   = "missing_key"
		session = "session_required"
		lacks   = "permission_required"
		role    = "role_required"
		raw     = "key_restricted"
	)
	tests := []struct {
		id   operation.ID
		want []string // by caller
	}{
		{operation.GetCatalog, []string{ok, ok, ok, ok, ok, ok, ok, ok, ok}},
		{operation.GetMe, []string{noKey, ok, ok, ok, ok, noKey, noKey, noKey, noKey}},
		{operation.ListConnections, []string{noKey, ok, lacks, lacks, lacks, ok, ok, ok, ok}},
		{operation.ConnectApp, []string{noKey, lacks, ok, lacks, lacks, ok, ok, ok, role}},
		{operation.RunTool, []string{noKey, lacks, lacks, ok, ok, ok, ok, ok, role}},
		{operation.RequestApp, []string{noKey, lacks, lacks, raw, ok, noKey, noKey, noKey, noKey}},
		{operation.CreateKey, []string{session, session, session, session, session, ok, ok, role, role}},
		{operation.ListKeys, []string{session, session, session, session, session, ok, ok, ok, ok}},
		{operation.SetRedirectURLs, []string{session, session, session, session, session, ok, ok, role, role}},
		{operation.ReadAuditLog, []string{session, session, session, session, session, ok, ok, role, ok}},
		{operation.DecideApproval, []string{session, session, session, session, session, ok, ok, ok, role}},
	}
	for _, tt := range tests {
		for i, by := range callers {
			err := operation.Authorize(by.c, tt.id)
			if tt.want[i] == ok && err != nil || tt.want[i] != ok && !problem.Is(err, tt.want[i]) {
				t.Errorf("%s by %s = %v, want %q", tt.id, by.name, err, tt.want[i])
			}
			if p, found := problem.From(err); err != nil && found && p.Kind == problem.Forbidden && p.NextAction == "" {
				t.Errorf("%s by %s is refused without a next action", tt.id, by.name)
			}
		}
	}
}

// TestOperationsAuthorizeThemselves: a transport that forgets to ask changes
// nothing. No port is set: an operation that goes on would panic.
func TestOperationsAuthorizeThemselves(t *testing.T) {
	t.Parallel()
	s := operation.New(operation.Ports{}, "https://platform.example")
	ctx, reader := t.Context(), keyed(apikey.Run, apikey.Restrictions{})
	auditor := person(account.Auditor)
	calls := map[string]func() error{
		"list keys": func() error { _, err := s.ListKeys(ctx, reader); return err },
		"create a key": func() error {
			_, _, err := s.CreateKey(ctx, reader, "", operation.KeyRequest{})
			return err
		},
		"rotate a key": func() error {
			_, _, err := s.RotateKey(ctx, auditor, "", "key_1", operation.KeyRotation{})
			return err
		},
		"change a key": func() error {
			_, err := s.ChangeKey(ctx, auditor, "key_1", operation.KeyChange{})
			return err
		},
		"revoke a key":       func() error { return s.RevokeKey(ctx, auditor, "key_1") },
		"me":                 func() error { _, err := s.Me(ctx, auditor); return err },
		"revoke the own key": func() error { return s.RevokeOwnKey(ctx, auditor) },
		"set redirect URLs": func() error {
			_, err := s.SetRedirectURLs(ctx, auditor, operation.RedirectURLs{})
			return err
		},
		"edit redirect URLs": func() error { _, err := s.EditRedirectURLs(ctx, auditor, nil, nil); return err },
		"set a password":     func() error { return s.SetPassword(ctx, reader, "", "correct horse battery") },
		"read the audit log": func() error { _, err := s.AuditLog(ctx, reader, operation.AuditRequest{}); return err },
		"list connections": func() error {
			_, err := s.ListConnections(ctx, reader, operation.ListConnectionsRequest{})
			return err
		},
		"get a connection": func() error { _, err := s.Connection(ctx, reader, "con_1"); return err },
		"change a connection": func() error {
			_, err := s.ChangeConnection(ctx, auditor, "con_1", operation.ConnectionChange{})
			return err
		},
		"delete a connection": func() error { return s.DeleteConnection(ctx, auditor, "con_1", true) },
		"check a connection":  func() error { _, err := s.CheckConnection(ctx, auditor, "con_1"); return err },
		"connect": func() error {
			_, _, err := s.ConnectApp(ctx, auditor, "", "notes", operation.ConnectRequest{})
			return err
		},
		"reconnect": func() error {
			_, _, err := s.Reconnect(ctx, auditor, "", "con_1", operation.ReconnectRequest{})
			return err
		},
		"read a session":   func() error { _, err := s.ConnectSession(ctx, auditor, "cs_1", 0); return err },
		"cancel a session": func() error { return s.CancelConnectSession(ctx, auditor, "cs_1") },
		"confirm a session": func() error {
			_, err := s.ConfirmConnectSession(ctx, auditor, "cs_1", operation.Confirmation{})
			return err
		},
		"list OAuth clients": func() error { _, err := s.ListOAuthClients(ctx, auditor); return err },
		"set an OAuth client": func() error {
			_, err := s.SetOAuthClient(ctx, auditor, "notes", operation.OAuthClientRequest{})
			return err
		},
		"delete an OAuth client": func() error { return s.DeleteOAuthClient(ctx, auditor, "notes") },
		"list connectors":        func() error { _, err := s.ListCustomConnectors(ctx, reader); return err },
		"get a connector":        func() error { _, err := s.CustomConnector(ctx, reader, "ccn_1"); return err },
		"create a connector": func() error {
			_, _, err := s.CreateCustomConnector(ctx, auditor, "", operation.ConnectorRequest{})
			return err
		},
		"change a connector": func() error {
			_, err := s.ChangeCustomConnector(ctx, auditor, "ccn_1", operation.ConnectorChange{})
			return err
		},
		"delete a connector": func() error { return s.DeleteCustomConnector(ctx, auditor, "ccn_1") },
		"refresh a connector": func() error {
			_, err := s.RefreshCustomConnector(ctx, auditor, "ccn_1", operation.ConnectorRefresh{})
			return err
		},
		"approve a connector": func() error {
			_, err := s.ApproveCustomConnector(ctx, auditor, "ccn_1", operation.ConnectorApproval{})
			return err
		},
		"test a connector": func() error { _, err := s.TestCustomConnector(ctx, auditor, "ccn_1"); return err },
		"run a tool": func() error {
			_, err := s.RunTool(ctx, auditor, "", "notes__add", false, &operation.RunRequest{})
			return err
		},
		"request an app": func() error {
			_, err := s.RequestApp(ctx, reader, "", "notes", &operation.FreeRequest{})
			return err
		},
		"list runs":      func() error { _, err := s.ListRuns(ctx, reader, operation.ListRunsRequest{}); return err },
		"get a run":      func() error { _, err := s.Run(ctx, reader, "run_1"); return err },
		"cancel a run":   func() error { _, err := s.CancelRun(ctx, auditor, "run_1"); return err },
		"read an output": func() error { _, err := s.RunOutput(ctx, reader, "run_1", ""); return err },
		"count runs":     func() error { _, err := s.Usage(ctx, reader, operation.UsageRequest{}); return err },
		"get a tool":     func() error { _, err := s.Tool(ctx, reader, "notes__add", ""); return err },
		"list tools": func() error {
			_, err := s.ListTools(ctx, reader, operation.ListToolsRequest{App: "notes"})
			return err
		},
		"upload a file":   func() error { _, err := s.UploadFile(ctx, auditor, nil); return err },
		"download a file": func() error { _, _, err := s.File(ctx, reader, "file_1"); return err },
		"list approvals":  func() error { _, err := s.ListApprovals(ctx, reader); return err },
		"get an approval": func() error { _, err := s.Approval(ctx, reader, "apr_1"); return err },
		"decide": func() error {
			_, err := s.DecideApproval(ctx, auditor, "apr_1", operation.Decision{})
			return err
		},
	}
	for name, call := range calls {
		p, ok := problem.From(call())
		if !ok || p.Kind != problem.Forbidden && p.Kind != problem.Unauthenticated {
			t.Errorf("%s: %v, want a refusal", name, p)
		}
	}
}
