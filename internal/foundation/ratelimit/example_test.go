package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"ace/internal/foundation/ratelimit"
)

func ExampleTable() {
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1024})
	api := table.Limiter(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Second, Burst: 2})
	for range 3 {
		result, err := api.Allow(context.Background(), "192.0.2.1", 1)
		if err != nil {
			panic(err)
		}
		h := http.Header{}
		ratelimit.WriteHeaders(h, result)
		fmt.Println(result.Allowed, h.Get("RateLimit-Policy"), h.Get("RateLimit"))
	}
	// Output:
	// true "client";q=2;w=2 "client";r=1;t=1
	// true "client";q=2;w=2 "client";r=0;t=1
	// false "client";q=2;w=2 "client";r=0;t=1
}
