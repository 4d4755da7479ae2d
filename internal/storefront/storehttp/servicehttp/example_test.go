package servicehttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/storehttp/servicehttp"
)

// A store whose operator has not set up payments lists its services and says
// why none can be bought.
func Example() {
	services := paidservice.New(paidservice.Deps{Definitions: paidservice.Definitions()}, paidservice.Options{})
	defer services.Close()
	face := &servicehttp.Handler{BaseURL: "https://store.example", Service: services}
	mux := httpserver.NewMux(httpserver.WriteProblem)
	face.Mount(openapi.New(mux, "store", "1", nil),
		func(pattern string, h http.HandlerFunc, m ...httpserver.Middleware) {
			mux.Handle(pattern, httpserver.Chain(h, m...))
		})
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1/services/llms-txt-draft/run", nil))
	fmt.Println(answer.Code)
	list, err := face.List(nil) //nolint:staticcheck // it needs no context
	fmt.Println(list.Payments.Mode, *list.Services[0].UnavailableReason, err)
	// Output:
	// 503
	// none payments_not_configured <nil>
}
