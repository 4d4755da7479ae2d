package httpserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
)

func Example() {
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("POST /greetings", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name string `json:"name"`
		}
		if err := httpserver.DecodeJSON(r, &in, 0); err != nil {
			httpserver.WriteProblem(w, r, err)
			return
		}
		_, _ = fmt.Fprintf(w, "Hello, %s!\n", in.Name)
	})
	host := httpserver.Chain(mux,
		httpserver.Instrument(slog.New(slog.DiscardHandler), "store", nil),
		httpserver.ClientAddress(nil),
		httpserver.LimitBody(1<<20),
		httpserver.LimitTime(30*time.Second),
	)
	for _, body := range []string{`{"name":"Ada"}`, `{"name":7}`} {
		r := httptest.NewRequestWithContext(context.Background(), "POST", "/greetings", strings.NewReader(body))
		r.Header.Set("X-Request-Id", "example-1")
		w := httptest.NewRecorder()
		host.ServeHTTP(w, r)
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 Hello, Ada!
	// 400 {"type":"about:blank","title":"Invalid request","status":400,"detail":"Expected a string, found a number.","instance":"/greetings","code":"invalid_type","errors":[{"pointer":"/name","code":"invalid_type","detail":"Expected a string, found a number."}],"next_action":"fix_arguments","request_id":"example-1"}
}
