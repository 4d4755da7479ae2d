package openapi_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
)

type greetInput struct {
	Name string `path:"name" maxLength:"20" doc:"Whom to greet."`
}

type greetOutput struct {
	Body struct {
		Text string `json:"text"`
	}
}

func greet(_ context.Context, in *greetInput) (*greetOutput, error) {
	if in.Name == "nobody" {
		return nil, problem.New(problem.NotFound, "person_not_found", "There is nobody of that name.")
	}
	out := new(greetOutput)
	out.Body.Text = "Hello, " + in.Name + "!"
	return out, nil
}

func ExampleHandle() {
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "Greetings", "1.0.0", nil)
	openapi.Handle(api,
		openapi.Operation{Method: "GET", Path: "/greetings/{name}", ID: "greet", Summary: "Greet a person"}, greet)

	for _, name := range []string{"Ada", "nobody"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "GET", "/greetings/"+name, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 {"text":"Hello, Ada!"}
	// 404 {"type":"about:blank","title":"Not found","status":404,"detail":"There is nobody of that name.","instance":"/greetings/nobody","code":"person_not_found","next_action":"none"}
}
