package llmstxt_test

import (
	"fmt"

	"ace/internal/protocol/llmstxt"
)

func ExampleCheck() {
	report := llmstxt.Check([]byte("# Ferry\n\n## Docs\n\n- [Install](/install): one command, and nothing else\n"), nil)
	fmt.Println("level", report.Level, "valid", report.Valid())
	for _, f := range report.Findings {
		fmt.Println(f.Line, f.Severity, f.Code)
	}
	// Output:
	// level 2 valid false
	// 0 warning no_summary
	// 5 error relative_link
}
