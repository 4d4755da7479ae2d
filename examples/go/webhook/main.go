// Command webhook receives the events of triggers, with the standard library.
//
//	ACE_WEBHOOK_SECRET=whsec_… PORT=3000 go run .
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type event struct {
	ID   string `json:"event_id"`
	Type string `json:"type"`
	Data struct {
		Title string `json:"title"`
	} `json:"data"`
}

func main() {
	if err := serve(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("ACE_WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(secret) == 0 {
		return errors.New("ACE_WEBHOOK_SECRET is not of the form whsec_<base64>")
	}
	var seen sync.Map // of a real receiver: a table, in the transaction that handles the event
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !verified(r.Header, body, secret) {
			http.Error(w, "not signed by the platform", http.StatusBadRequest)
			return
		}
		var e event
		if err := json.Unmarshal(body, &e); err != nil {
			http.Error(w, "not an event", http.StatusBadRequest)
			return
		}
		if _, before := seen.LoadOrStore(e.ID, true); !before { // an event may arrive twice
			fmt.Printf("%s: %s\n", e.Type, e.Data.Title)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	server := &http.Server{
		Addr: "127.0.0.1:" + cmp.Or(os.Getenv("PORT"), "3000"), Handler: mux, ReadHeaderTimeout: 10 * time.Second,
	}
	fmt.Println("listening")
	return server.ListenAndServe()
}

// verified reports whether one of the signatures is valid and recent, by the rules
// of Standard Webhooks.
func verified(header http.Header, body, secret []byte) bool {
	stamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", header.Get("Webhook-Id"), stamp, body)
	for signature := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		text, isV1 := strings.CutPrefix(signature, "v1,")
		sent, err := base64.StdEncoding.DecodeString(text)
		if isV1 && err == nil && hmac.Equal(sent, mac.Sum(nil)) {
			return true
		}
	}
	return false
}
