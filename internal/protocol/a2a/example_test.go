package a2a_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/a2a"
)

// echo responds to each message with its text.
type echo struct{ a2a.Agent }

func (echo) Send(_ context.Context, _ *a2a.Call, req *a2a.SendRequest) (*a2a.Task, error) {
	task := a2a.Task{
		ID: "task_1", ContextID: "ctx_1",
		Artifacts: []a2a.Artifact{{ArtifactID: "echo", Parts: req.Message.Parts}},
	}
	return &task, task.Move(a2a.Completed, time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC))
}

func ExampleServer() {
	server := a2a.New(echo{}, nil)
	r := httptest.NewRequestWithContext(context.Background(), "POST", "/agent/a2a", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",`+
			`"parts":[{"text":"Hello"}]}}}`,
	))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"task_1","contextId":"ctx_1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-21T10:00:00.000Z"},"artifacts":[{"artifactId":"echo","parts":[{"text":"Hello"}]}]}}}
}

func ExampleVerifyCard() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		panic(err)
	}
	card, err := a2a.Card{Name: "Echo", Description: "Repeats each message.", Version: "1.0.0"}.Sign(signer,
		"https://echo.example/.well-known/jwks.json")
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(card)
	if err != nil {
		panic(err)
	}
	trusted := func(string, string) (crypto.PublicKey, error) { return key.Public(), nil }
	fmt.Println(a2a.VerifyCard(text, trusted))
	fmt.Println(a2a.VerifyCard([]byte(strings.Replace(string(text), "Echo", "Eve", 1)), trusted) != nil)
	// Output:
	// <nil>
	// true
}
