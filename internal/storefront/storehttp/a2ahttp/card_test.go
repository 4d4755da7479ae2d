package a2ahttp_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/a2a"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp/a2ahttp"
)

func withSigner(t testing.TB) func(*a2ahttp.Deps) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return func(d *a2ahttp.Deps) { d.Signer = signer }
}

// The card is signed by a key that is published where the signature says, and
// is the same in every replica.
func TestCard(t *testing.T) {
	t.Parallel()
	signed := withSigner(t)
	w := setup(t, signed)
	if other := setup(t, signed); !bytes.Equal(w.handler.Card(), other.handler.Card()) {
		t.Errorf("two replicas have the cards\n%s\n%s", w.handler.Card(), other.handler.Card())
	}
	keys, err := httpsig.ParseKeySet(w.handler.KeySet())
	if err != nil || len(keys) != 1 {
		t.Fatalf("key set = %s, %v, want one key", w.handler.KeySet(), err)
	}
	err = a2a.VerifyCard(w.handler.Card(), func(kid, jku string) (crypto.PublicKey, error) {
		key, ok := httpsig.FindKey(keys, kid)
		if !ok || jku != "https://store.example"+a2ahttp.KeySetPath {
			return nil, errors.New("unknown key " + kid + " at " + jku)
		}
		return key.Public()
	})
	if err != nil {
		t.Errorf("VerifyCard = %v", err)
	}
	var card a2a.Card
	if err := json.Unmarshal(w.handler.Card(), &card); err != nil {
		t.Fatal(err)
	}
	i := card.SupportedInterface[0]
	if i.URL != "https://store.example"+a2ahttp.Path || i.ProtocolBinding != "JSONRPC" || i.ProtocolVersion != "1.0" ||
		len(card.Skills) != 2 || card.Version == "" || card.Description == "" {
		t.Errorf("card = %+v", card)
	}
	if modes := append(slices.Clone(card.InputModes), card.OutputModes...); !slices.Contains(modes, a2a.MediaJSON) ||
		len(modes) < 2 {
		t.Errorf("modes = %v", modes)
	}
	if !bytes.Contains(
		w.handler.Card(),
		[]byte(`"streaming":false,"pushNotifications":false,"extendedAgentCard":false`),
	) {
		t.Errorf("card %s does not say what it cannot do", w.handler.Card())
	}
}

// What the card shows as examples works, sent as data or as text.
func TestExamplesOfTheCard(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var card a2a.Card
	if err := json.Unmarshal(w.handler.Card(), &card); err != nil {
		t.Fatal(err)
	}
	if card.Signatures != nil {
		t.Error("a card without a key is signed")
	}
	for _, skill := range card.Skills {
		for i, example := range skill.Examples {
			if strings.Contains(example, "list_products") {
				continue // an action that the stores of these tests do not have
			}
			for j, parts := range []string{dataPart(example), `[{"text":` + quoted(example) + `}]`} {
				if task := w.send(message(fmt.Sprint("message-", i, j), parts)); task.Status.State != a2a.Completed &&
					task.Status.State != a2a.InputRequired {
					t.Errorf("%s = %+v", example, task)
				}
			}
		}
	}
}

// Without a signer the card is not signed and no key is published.
func TestUnsignedCard(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if !jcs.Equal(w.handler.KeySet(), []byte(`{"keys":[]}`)) {
		t.Errorf("key set = %s", w.handler.KeySet())
	}
}

// The extension lists the actions with schemas that hold, and the same as the response to a message in words.
func TestSkillsDocument(t *testing.T) {
	t.Parallel()
	w := setup(t)
	type skills []struct {
		Skill   string
		Actions []struct {
			Action, Description       string
			InputSchema, OutputSchema json.RawMessage
		}
	}
	var document struct {
		URI    string
		Skills skills
	}
	if err := json.Unmarshal(w.handler.Skills(), &document); err != nil ||
		document.URI != "https://store.example"+a2ahttp.SkillsPath {
		t.Fatalf("document = %s, %v", w.handler.Skills(), err)
	}
	names := func(all skills) (list []string) {
		for _, s := range all {
			for _, a := range s.Actions {
				list = append(list, s.Skill+" "+a.Action)
				if _, err := mcp.CompileSchema(a.InputSchema); err != nil || a.Description == "" {
					t.Errorf("%s: %v, %q", a.Action, err, a.Description)
				}
			}
		}
		return list
	}
	want := []string{"site site_info", "site search_pages", "checkout create_checkout"}
	if got := names(document.Skills); !slices.Equal(got, want) {
		t.Errorf("the document lists %v, want %v", got, want)
	}
	task := w.send(message("1", hello))
	var asks struct{ Skills skills }
	if err := json.Unmarshal(task.Status.Message.Parts[1].Data, &asks); err != nil || !slices.Equal(names(asks.Skills),
		want) {
		t.Errorf("a task that asks lists %v, %v, want %v", names(asks.Skills), err, want)
	}
}

func TestBadSchema(t *testing.T) {
	t.Parallel()
	d := a2ahttp.Deps{Actions: []a2ahttp.Action{{Name: "x", InputSchema: json.RawMessage(`{"type":"string"}`)}}}
	if _, err := a2ahttp.New(d); err == nil {
		t.Error("New takes a schema that is of no object")
	}
}

// The endpoint is served with and without a slash at its end, and errors around
// it have its shape.
func TestMount(t *testing.T) {
	t.Parallel()
	w := setup(t, withSigner(t))
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "Store", "1.0.0", nil)
	w.handler.Mount(mux, api, func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
	})
	tests := []struct {
		method, path string
		status       int
		see          string
	}{
		{http.MethodPost, "/agent/a2a", 200, `"code":-32001`},
		{http.MethodPost, "/agent/a2a/", 200, `"code":-32001`},
		{http.MethodGet, "/agent/a2a", 405, `"code":-32600`},
		{http.MethodGet, "/agent/a2a/", 405, `"code":-32600`},
		{http.MethodOptions, "/agent/a2a", 204, ""},
		{http.MethodGet, "/agent/a2a/more", 404, `"code":-32600`},
		{http.MethodDelete, "/agent/a2a/ext/site-skill/v1", 405, `"code":-32600`},
		{http.MethodGet, "/agent/a2a/ext/site-skill/v1", 200, `"skills":[`},
		{http.MethodGet, "/.well-known/jwks.json", 200, `"crv":"P-256"`},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, r)
		if rec.Code != tt.status || !strings.Contains(rec.Body.String(), tt.see) {
			t.Errorf("%s %s = %d %s, want %d %s", tt.method, tt.path, rec.Code, rec.Body, tt.status, tt.see)
		}
	}
	document, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{`"/agent/a2a"`, `"/agent/a2a/ext/site-skill/v1"`, `"/.well-known/jwks.json"`} {
		if !bytes.Contains(document, []byte(path)) {
			t.Errorf("openapi.json does not have %s", path)
		}
	}
}
