package llmsdraft_test

import (
	"context"
	"fmt"

	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/llmsdraft"
)

func ExampleService_Run() {
	web := crawltest.New(map[string]crawltest.Answer{
		"https://lamps.example/": crawltest.Page(
			`<title>Lamps</title><meta name="description" content="We make lamps for desks and floors.">
			<h1>Lamps</h1><nav><a href="/desk">Desk lamps</a> <a href="/floor">Floor lamps</a></nav>`),
		"https://lamps.example/desk": crawltest.Page(
			`<title>Desk</title><h1>Desk lamps</h1><p>Small lamps with a heavy foot.`),
		"https://lamps.example/floor": crawltest.Page(
			`<title>Floor</title><h1>Floor lamps</h1><p>Tall lamps that light a room.`),
	})
	service := llmsdraft.New(web, &llmsdraft.Options{Crawl: &crawl.Options{Interval: -1}})
	draft, err := service.Run(context.Background(), llmsdraft.Request{URL: "lamps.example"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(draft.LLMSTxt)
	// Output:
	// # Lamps
	//
	// > We make lamps for desks and floors.
	//
	// - Website: https://lamps.example/
	//
	// ## Pages
	//
	// - [Desk lamps](https://lamps.example/desk): Small lamps with a heavy foot.
	// - [Floor lamps](https://lamps.example/floor): Tall lamps that light a room.
}
