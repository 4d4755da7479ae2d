package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/protocol/ucp"
)

const errorsHead = `# Errors

This page follows from the code; ` + "`make docs`" + ` writes it, and a test fails on a code that it does not explain.

Every failure that a caller can act on has a stable code and a sentence that says what to do. Branch on the code, ` +
	`show the sentence.
The shape is the protocol's own:

| Where | Shape | Field with the code |
| --- | --- | --- |
| our own REST | RFC 9457, ` + "`application/problem+json`" + ` | ` + "`code`" + `; single faults in ` + "`errors[]`" +
	`, advice for programs in ` + "`next_action`" + ` |
| UCP | ` + "`{code, content}`" + `, or the envelope with ` + "`messages[]`" + ` for an outcome of the business | ` +
	"`code`, `messages[].code`" + ` |
| ACP | flat ` + "`{type, code, message, param}`" + ` | ` + "`code`" + ` |
| MCP, JSON-RPC | JSON-RPC error, or a result with ` + "`isError`" + ` | ` + "`data.code`, `structuredContent`" + ` |

Statuses 429 and 503, and each answer that says "try again", carry ` + "`Retry-After`" +
	` in seconds where the time is known. Name the
` + "`X-Request-Id`" + ` of the answer when you report a failure. A failure of ours reads ` + "`internal_error`" +
	` with status 500; its cause is in
the log of the store and nowhere else.
`

// entry is one code of the page.
type entry struct {
	statuses, details, places []string
}

// errorsPage is the page of all codes. A code without advice fails.
func errorsPage(root string) ([]byte, error) {
	s, err := scan(root)
	if err != nil {
		return nil, err
	}
	entries, err := gather(s.found)
	if err != nil {
		return nil, err
	}
	entries["internal_error"] = &entry{
		statuses: []string{"500"},
		details:  []string{"Something went wrong on our side. It has been logged; please try again."},
	}
	missing := map[string]bool{}
	told := func(code string) string {
		if advice[code] == "" {
			missing[code] = true
		}
		return cell(advice[code])
	}
	var page bytes.Buffer
	page.WriteString(errorsHead)
	s.writeProblems(&page, entries, told)
	s.writeFaults(&page, told)
	s.writeProtocols(&page, told)
	if len(missing) > 0 {
		return nil, fmt.Errorf("internal/tools/docs/advice.go does not say what to do about %s",
			strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return page.Bytes(), nil
}

func gather(found []failure) (map[string]*entry, error) {
	entries := map[string]*entry{}
	add := func(list *[]string, value string) {
		if value != "" && !slices.Contains(*list, value) {
			*list = append(*list, value)
			slices.Sort(*list)
		}
	}
	for _, f := range found {
		if !strings.Contains(f.code, "_") && f.code != strings.ToLower(f.code) {
			return nil, fmt.Errorf("%s answers the code %q: codes are snake_case", f.place, f.code)
		}
		if entries[f.code] == nil {
			entries[f.code] = &entry{}
		}
		e := entries[f.code]
		if f.kind != "" {
			kind, ok := kinds[f.kind]
			if !ok {
				return nil, fmt.Errorf("%s answers the kind %q, which the page does not know", f.place, f.kind)
			}
			add(&e.statuses, fmt.Sprint(kind.Status()))
		}
		add(&e.details, f.detail)
		add(&e.places, strings.TrimPrefix(f.place, "internal/"))
	}
	return entries, nil
}

// kinds are the names that the sources use.
var kinds = map[string]problem.Kind{
	"Internal": problem.Internal, "Malformed": problem.Malformed, "Invalid": problem.Invalid,
	"Unauthenticated": problem.Unauthenticated,
	"PaymentRequired": problem.PaymentRequired, "Forbidden": problem.Forbidden, "NotFound": problem.NotFound,
	"MethodNotAllowed": problem.MethodNotAllowed,
	"NotAcceptable":    problem.NotAcceptable, "Conflict": problem.Conflict, "Gone": problem.Gone,
	"TooLarge":         problem.TooLarge,
	"UnsupportedMedia": problem.UnsupportedMedia, "Unprocessable": problem.Unprocessable,
	"RateLimited": problem.RateLimited,
	"Unavailable": problem.Unavailable, "Timeout": problem.Timeout,
}

func (s *scanner) writeProblems(page *bytes.Buffer, entries map[string]*entry, told func(string) string) {
	page.WriteString(
		"\n## Codes\n\nWhere a part of a sentence is filled in at run time, it reads ….\n\n| Code | Status | " +
			"Sentence | What to do |\n| --- | --- | --- | --- |\n")
	for _, code := range slices.Sorted(maps.Keys(entries)) {
		e := entries[code]
		var details []string
		for _, d := range e.details {
			if d != "…" {
				details = append(details, cell(d))
			}
		}
		fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", code, strings.Join(e.statuses, ", "),
			strings.Join(details, "<br>"), told(code))
	}
}

func (s *scanner) writeFaults(page *bytes.Buffer, told func(string) string) {
	page.WriteString(
		"\n## Codes of single faults\n\nA request with faults at several places names each, with its place: in " +
			"`errors[]` of our own REST; UCP and ACP name the\nfirst. Where a request has one fault only, its code " +
			"may be the code of the whole answer.\n\n| Code | What to do |\n| --- | --- |\n")
	for _, code := range s.faults() {
		fmt.Fprintf(page, "| `%s` | %s |\n", code, told(code))
	}
}

func (s *scanner) writeProtocols(page *bytes.Buffer, told func(string) string) {
	page.WriteString(
		"\n## UCP\n\nThe codes that UCP knows, as failures or as messages inside a checkout. Ours that are not " +
			"listed here pass through.\nStatus 200 is an outcome of the business: a sold-out offer is no failure of " +
			"the call.\n\n| Code | Status | Stands for | What to do |\n| --- | --- | --- | --- |\n")
	ours := s.renamed("ucphttp", "outcomes")
	maps.Copy(ours, s.renamed("ucphttp", "failures"))
	for _, code := range s.constantsOf("ucp", "Code") {
		status := "in a checkout"
		if n := ucp.Code(code).Status(); n != 0 {
			status = fmt.Sprint(n)
		}
		fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", code, status, ours[code], told(code))
	}
	page.WriteString(
		"\n## ACP\n\nThe codes that ACP gives a meaning. Ours that are not listed here pass through.\n\n| Code | " +
			"Status | Stands for | What to do |\n| --- | --- | --- | --- |\n")
	ours = s.renamed("acphttp", "protocolCodes")
	for _, code := range s.keysOf("acp", "rules") {
		fmt.Fprintf(page, "| `%s` | %d | %s | %s |\n", code, acp.NewError(code, "", "").Status(), ours[code],
			told(code))
	}
}
