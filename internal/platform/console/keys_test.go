package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

var (
	keyShape  = regexp.MustCompile(`ace_[0-9A-Za-z]{36}`)
	olderLink = regexp.MustCompile(`href="(/account/activity\?before=[\w-]+)"`)
)

// TestKeys creates a key with every restriction, replaces it and revokes it.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	made := b.post("/account/keys", "name", "CI", "permission", "read", "permission", "run", "approval", "writes",
		"days", "30",
		"apps", "desk, sky", "tools", "desk__list_tickets", "networks", "192.0.2.7 2001:db8::/32", "end_user", "u_1",
		"read_only", "on", "raw", "on")
	secret := keyShape.FindString(made.text)
	if made.Code != http.StatusOK || !apikey.WellFormed(secret) || made.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("creating a key: %d %s", made.Code, made.text)
	}
	keys, err := w.keys.List(t.Context(), w.account.ID)
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys: %v, %v", keys, err)
	}
	k := keys[0]
	if k.Permissions != apikey.Read|apikey.Run || k.Approval != apikey.ApproveWrites || len(k.Restrict.Apps) != 2 ||
		len(k.Restrict.Networks) != 2 || k.Restrict.EndUser != "u_1" ||
		!k.Restrict.ReadOnlyTools || !k.Restrict.RawRequests || k.Restrict.Networks[0].String() != "192.0.2.7/32" ||
		time.Until(k.ExpiresAt) < 29*24*time.Hour {
		t.Errorf("the key is %+v", k)
	}
	shown := b.get("/account/keys/" + k.ID).text
	contains(t, "the key's page", shown, "CI", k.Prefix, "desk, sky", "192.0.2.7/32", "u_1", "by demo")
	for _, path := range []string{"/account", "/account/keys/" + k.ID, "/account/activity"} {
		if strings.Contains(b.get(path).text, secret) {
			t.Errorf("%s shows the key again", path)
		}
	}
	next := b.post("/account/keys/"+k.ID+"/rotate", "grace", "86400")
	if again := keyShape.FindString(next.text); again == "" || again == secret || !strings.Contains(next.text,
		"stops working in a day") {
		t.Errorf("replacing the key: %d %s", next.Code, next.text)
	}
	if got := b.post("/account/keys/"+k.ID+"/rotate", "grace", "soon"); got.Code != http.StatusBadRequest {
		t.Errorf("replacing with an odd grace: %d", got.Code)
	}
	if got := b.post("/account/keys/" + k.ID + "/revoke"); got.to() != "/account?done=key_revoked" {
		t.Errorf("revoking: %d %s", got.Code, got.text)
	}
	contains(t, "the account page", b.get("/account?done=key_revoked").text, "The key is revoked", "revoked just now",
		"A key was revoked")
}

func TestKeyFaults(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	tests := []struct {
		name  string
		form  []string
		fault string
	}{
		{"no name", []string{"permission", "read"}, "Give the key a name"},
		{"no permission", []string{"name", "x"}, "at least one of the permissions"},
		{"an odd approval", []string{"name", "x", "permission", "read", "approval", "all"}, "Approval is none"},
		{"an odd time", []string{"name", "x", "permission", "read", "days", "-1"}, "how long the key works"},
		{
			"an odd network",
			[]string{"name", "<b>x</b>", "permission", "read", "networks", "everywhere"},
			"Networks are written like",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := b.post("/account/keys", tt.form...)
			if got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.text, tt.fault) ||
				strings.Contains(got.text, "<b>x") {
				t.Errorf("%d: %s", got.Code, got.text)
			}
		})
	}
	if keys, err := w.keys.List(t.Context(), w.account.ID); err != nil || len(keys) != 0 {
		t.Errorf("keys were made: %v, %v", keys, err)
	}
}

// TestOthersKeys: another account's key reads as missing, whatever is done.
func TestOthersKeys(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	other := w.other(t, "acme")
	k, _, err := w.keys.Create(t.Context(), audit.Operator(), other.ID,
		apikey.Settings{Name: "theirs", Permissions: apikey.Read})
	if err != nil {
		t.Fatal(err)
	}
	b := w.signedIn(t, w.account)
	for _, got := range []page{
		b.get("/account/keys/" + k.ID), b.post("/account/keys/" + k.ID + "/revoke"),
		b.post("/account/keys/"+k.ID+"/rotate", "grace", "0"),
	} {
		if got.Code != http.StatusNotFound || strings.Contains(got.text, "theirs") {
			t.Errorf("another account's key: %d %s", got.Code, got.text)
		}
	}
	if still, err := w.keys.Get(t.Context(), other.ID, k.ID); err != nil || !still.Live(time.Now()) {
		t.Errorf("the key is gone: %+v, %v", still, err)
	}
}

// TestActivity turns pages of what happened.
func TestActivity(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	for range 60 {
		w.link(t)
	}
	first := b.get("/account/activity")
	older := olderLink.FindStringSubmatch(first.text)
	if older == nil {
		t.Fatalf("no older page:\n%s", first.text)
	}
	contains(t, "the older page", b.get(older[1]).text, "The account was made", "Signed in by a link")
	contains(t, "an odd page", b.get("/account/activity?before=-7").text, "A sign-in link was made")
}
