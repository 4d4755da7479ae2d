package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/foundation/seal/kek/transittest"
	"ace/test/harness"
)

// Keys are rotated while the server runs: the API key, the connection and the
// store's own keys go on, also after a restart. A key that is wrong or away stops
// the start with a sentence that names the setting, and no secret.
func TestVault(t *testing.T) {
	t.Parallel()
	service := transittest.Start(t)
	tests := []struct {
		name   string
		env    []string
		spoil  func(t *testing.T, w *world)
		says   []string
		secret string
	}{
		{"file", nil, func(t *testing.T, w *world) {
			if err := os.WriteFile(filepath.Join(w.dir, "master.key"), []byte(strings.Repeat("k3y!", 8)),
				0o600); err != nil {
				t.Error(err)
			}
		}, []string{"ACE_KEK_URL", "ACE_MASTER_KEY_FILE"}, "k3y!"},
		{"file is gone", nil, func(t *testing.T, w *world) {
			if err := os.Remove(filepath.Join(w.dir, "master.key")); err != nil {
				t.Error(err)
			}
		}, []string{"master.key is not there", "backup"}, ""},
		{
			"service",
			[]string{"ACE_KEK_URL=" + service.Address(), "ACE_KEK_TOKEN_FILE=" + transittest.TokenFile(t)},
			func(*testing.T, *world) {
				service.Refuse(http.StatusServiceUnavailable, "Vault is sealed")
			},
			[]string{"ACE_KEK_URL", "unseal"},
			transittest.Token,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newcomer(t, tt.env...)
			fields := a.visit(a.link("key"), nil)
			form := fields.hidden()
			form.Set("field.key",
				madeKey.FindString(a.visit(a.sandbox+"/notes/keys", url.Values{"person": {"Ann"}}).text))
			a.visit(fields.address.String(), form)
			works := func(when string) {
				t.Helper()
				status, run := a.call(http.MethodPost, "/tools/demo_notes__create_note/run",
					`{"arguments":{"title":"Milk"}}`)
				if status != http.StatusOK {
					t.Errorf("%s: a run answers %d %v", when, status, run)
					return
				}
				// A run is recorded a moment after it was answered, with what the key of
				// that time has sealed; reading it waits for that.
				id, _ := run["run_id"].(string)
				if status, read := a.call(http.MethodGet, "/runs/"+id, ""); status != http.StatusOK {
					t.Errorf("%s: the run reads as %d %v", when, status, read)
				}
			}
			works("before")
			rotate := harness.Start(t, a.world.binary,
				[]string{"ACE_DATA_DIR=" + a.world.dir, "ACE_STORE_URL=" + a.world.store}, "vault", "rotate", "--json")
			<-rotate.Ended()
			out := rotate.Output()
			if printed := rotate.Stdout(); !strings.Contains(out, "re-encrypted: ") ||
				!json.Valid([]byte(printed)) || !strings.Contains(printed, `"left": 0`) ||
				!strings.Contains(printed, `"phase": "lingering"`) {
				t.Errorf("ace vault rotate printed:\n%s", out)
			}
			works("after the rotation")
			outputs := []string{out, a.world.process.Output()}
			a.world.process.Stop()
			again := func() *harness.Process {
				return harness.Start(t, a.world.binary, append([]string{
					"ACE_HOSTS=store,platform", "ACE_STORE_ADDR=" + strings.TrimPrefix(a.world.store, "http://"),
					"ACE_PLATFORM_ADDR=" + strings.TrimPrefix(a.platform, "http://"),
					"ACE_SANDBOX_ADDR=" + strings.TrimPrefix(a.sandbox, "http://"), "ACE_ADMIN_ADDR=",
					"ACE_DATA_DIR=" + a.world.dir, "ACE_RATE_LIMIT=off",
				}, tt.env...), "serve")
			}
			p := again()
			if !p.Ready(a.world.store + "/healthz") {
				t.Fatalf("no start after the rotation:\n%s", p.Output())
			}
			works("after a restart")
			if shown := a.world.ace("vault", "status"); !strings.Contains(shown, "lingering") ||
				!strings.Contains(shown, "connection.secret") {
				t.Errorf("ace vault status printed:\n%s", shown)
			}
			p.Stop()
			tt.spoil(t, a.world)
			refused := again()
			if refused.Ready(a.world.store + "/healthz") {
				t.Fatal("serves with a key that opens nothing")
			}
			for _, want := range tt.says {
				if !strings.Contains(refused.Output(), want) {
					t.Errorf("the refusal %q does not say %q", refused.Output(), want)
				}
			}
			for _, output := range append(outputs, p.Output(), refused.Output()) {
				if tt.secret != "" && (strings.Contains(output, tt.secret) || strings.Contains(output,
					base64.StdEncoding.EncodeToString([]byte(tt.secret)))) {
					t.Errorf("the secret was printed:\n%s", output)
				}
			}
		})
	}
}
