package readiness_test

import (
	"context"
	"fmt"

	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/readiness"
)

func ExampleAuditor_Run() {
	web := crawltest.New(map[string]crawltest.Answer{
		"https://shop.example/": crawltest.Page(
			`<!doctype html><html lang="en"><title>Lamps for desks | Shop</title><main><h1>Lamps for desks</h1></main>`,
		),
		"https://shop.example/robots.txt": crawltest.Text("text/plain", "User-agent: OAI-SearchBot\nDisallow: /\n"),
	})
	auditor := readiness.New(web, &readiness.Options{Crawl: &crawl.Options{Interval: -1}})
	report, err := auditor.Run(context.Background(), readiness.Request{URL: "shop.example"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	check, _ := report.Check("acc.bots_search")
	fmt.Println(check.Status, check.Value)
	fmt.Println(check.Worst().Observed)
	fmt.Println(check.Fix.Snippet)
	// Output:
	// partial 0.818
	// robots.txt keeps out OAI-SearchBot (robots.txt line 2, User-agent: OAI-SearchBot, Disallow: /)
	// User-agent: OAI-SearchBot
	// Allow: /
}
