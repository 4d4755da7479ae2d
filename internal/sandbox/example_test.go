package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox"
)

// A sandbox has a database file of its own, a handler for its listener and a
// worker for webhooks and the clock.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	folder, err := os.MkdirTemp("", "sandbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	db, err := sqldb.Open(ctx, "sqlite:"+filepath.Join(folder, "sandbox.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	box, err := sandbox.New(ctx, db, &sandbox.Options{
		BaseURL:  "http://127.0.0.1:8082",
		Webhooks: []sandbox.Webhook{{URL: "http://127.0.0.1:8080/webhooks/stripe", Secret: "whsec_example"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = box.Run(ctx) }()

	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/prices?lookup_keys[]=prompt_handbook", nil)
	r.Header.Set("Authorization", "Bearer sk_test_example")
	w := httptest.NewRecorder()
	box.Handler().ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Ace-Sandbox"))
	// Output: 200 true
}

func ExampleCheckAddress() {
	fmt.Println(sandbox.CheckAddress("http://127.0.0.1:8082", false))
	fmt.Println(sandbox.CheckAddress("https://shop.example.com", false) != nil)
	// Output:
	// <nil>
	// true
}
