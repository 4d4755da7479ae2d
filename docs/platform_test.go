package docs_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

// table reads the rows of the table below a heading of platform.md.
func table(t *testing.T, heading, columns string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("platform.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("platform.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	_, section, found = strings.Cut(section, columns+"\n| --- | --- |\n")
	if !found {
		t.Fatalf("section %q has no table %q", heading, columns)
	}
	rows := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 {
			break
		}
		rows[strings.TrimSpace(cells[0])] = strings.TrimSpace(cells[1])
	}
	return rows
}

// limits returns the source of each limit of the table: a constant, or the match of a pattern.
func limits() map[string]struct{ file, name, form string } {
	const platform = "../internal/platform/"
	const pattern = "pattern: "
	return map[string]struct{ file, name, form string }{
		"Requests per key": {
			platform + "operation/doc.go", "RequestsPerMinute", "%s per minute",
		},
		"Sign-in link to the account page": {
			platform + "account/account.go", "LinkLifetime",
			"valid for %s",
		},
		"Connect link, default": {
			platform + "connection/session.go", "SessionLifetime",
			"valid for %s",
		},
		"Connect link, maximum": {
			platform + "connection/session.go", "MaxSessionLifetime",
			"valid for %s",
		},
		"Waiting for a connect session": {platform + "connection/wait.go", "maxWait", "%s"},
		"Task description in `POST /tools/find`": {
			platform + "operation/find.go",
			pattern + `json:"task" minLength:"1" maxLength:"(\d+)"`, "%s characters",
		},
		"Tools per response of `POST /tools/find`": {
			platform + "operation/find.go",
			pattern + `json:"limit,omitempty" minimum:"1" maximum:"(\d+)"`, "%s",
		},
		"Duration of a run, default": {platform + "tool/run.go", "DefaultTimeout", "%s"},
		"Duration of a run, maximum": {platform + "tool/run.go", "MaxTimeout", "%s"},
		"Part of an output, default": {platform + "tool/output/cut.go", "DefaultPart", "%s"},
		"Part of an output, maximum": {platform + "tool/output/cut.go", "MaxPart", "%s"},
		"Retention of outputs":       {platform + "tool/run.go", "OutputLifetime", "%s"},
		"Retention of runs":          {platform + "tool/run.go", "RunLifetime", "%s"},
		"Waiting for an approval":    {platform + "tool/run.go", "ApprovalLifetime", "%s"},
		"Size of a file":             {platform + "tool/file/file.go", "MaxSize", "%s"},
		"URL of a file":              {platform + "tool/file/file.go", "urlLifetime", "valid for %s"},
		"Retention of an `Idempotency-Key`": {
			"../internal/foundation/idempotency/idempotency.go",
			"Retention", "%s",
		},
		"Grace period of a rotated key, maximum": {platform + "apikey/service.go", "maxGrace", "%s"},
		"Custom connectors per account":          {platform + "connector/service.go", "MaxConnectors", "%s"},
		"Tools per custom connector": {
			platform + "openapiimport/document.go", "MaxOperations",
			"%s",
		},
		"Size of an OpenAPI document": {platform + "openapiimport/document.go", "MaxBytes", "%s"},
		"Size of an app definition": {
			"../internal/server/definitions/definitions.go",
			"maxSize", "%s",
		},
	}
}

// TestLimits compares each limit of the table with the code.
func TestLimits(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for row, at := range limits() {
		pattern, isPattern := strings.CutPrefix(at.name, "pattern: ")
		if isPattern {
			want[row] = fmt.Sprintf(at.form, matched(t, at.file, pattern))
			continue
		}
		want[row] = fmt.Sprintf(at.form, worded(constantOf(t, at.file, at.name)))
	}
	if diff := cmp.Diff(want, table(t, "Limits", "| Limit | Value |")); diff != "" {
		t.Errorf("limits (-code +page):\n%s", diff)
	}
}

func matched(t *testing.T, file, pattern string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no match of %s", file, pattern)
	}
	return string(found[1])
}

// constantOf evaluates a constant of numbers and durations. timed reports whether it is a
// duration.
func constantOf(t *testing.T, file, name string) (value int64, timed bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found ast.Expr
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if i := slices.IndexFunc(spec.Names, func(id *ast.Ident) bool { return id.Name == name }); i >= 0 &&
				i < len(spec.Values) {
				found = spec.Values[i]
			}
		}
		return found == nil
	})
	if found == nil {
		t.Fatalf("%s declares no constant %s", file, name)
	}
	var evaluate func(e ast.Expr) constant.Value
	evaluate = func(e ast.Expr) constant.Value {
		switch e := e.(type) {
		case *ast.BasicLit:
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		case *ast.SelectorExpr:
			timed = true
			units := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
			if unit, ok := units[e.Sel.Name]; ok {
				return constant.MakeInt64(int64(unit))
			}
		case *ast.BinaryExpr:
			x, y := evaluate(e.X), evaluate(e.Y)
			if bits, exact := constant.Uint64Val(y); e.Op == token.SHL && exact {
				return constant.Shift(x, token.SHL, uint(bits))
			}
			return constant.BinaryOp(x, e.Op, y)
		}
		t.Fatalf("%s: %s is not a plain constant", file, name)
		return nil
	}
	value, exact := constant.Int64Val(evaluate(found))
	if !exact {
		t.Fatalf("%s: %s is not an integer", file, name)
	}
	return value, timed
}

// worded formats a limit as the page writes it: 15 minutes, 25 MiB, 500.
func worded(value int64, timed bool) string {
	if !timed {
		if value >= 1<<20 && value%(1<<20) == 0 {
			return strconv.FormatInt(value>>20, 10) + " MiB"
		}
		return strconv.FormatInt(value, 10)
	}
	units := []struct {
		length time.Duration
		more   time.Duration // from which on it is used
		name   string
	}{
		{24 * time.Hour, 7 * 24 * time.Hour, "day"},
		{time.Hour, time.Hour, "hour"},
		{time.Minute, 2 * time.Minute, "minute"},
		{time.Second, 0, "second"},
	}
	for _, u := range units {
		if d := time.Duration(value); d >= u.more && d%u.length == 0 {
			if d == u.length {
				return "1 " + u.name
			}
			return strconv.FormatInt(int64(d/u.length), 10) + " " + u.name + "s"
		}
	}
	return time.Duration(value).String()
}

// TestNextActions compares the table with the next_action values in the code.
func TestNextActions(t *testing.T) {
	t.Parallel()
	given := regexp.MustCompile(`(?:Advise\(|Action(?::| :?=) *)"([a-z_]+)"`)
	got := map[string]bool{}
	err := filepath.WalkDir("../internal/platform", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range given.FindAllStringSubmatch(string(text), -1) {
			got[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for row, meaning := range table(t, "Errors", "| `next_action` | What to do |") {
		if meaning == "" {
			t.Errorf("%s has no explanation", row)
		}
		documented = append(documented, strings.Trim(row, "`"))
	}
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(got)), documented); diff != "" {
		t.Errorf("next_action (-code +page):\n%s", diff)
	}
}

// TestRunErrors compares the error codes of runs with the API's own list.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`app_[a-z_]+`)
	listed := code.FindAllString(matched(t, "../internal/platform/operation/runs.go",
		`json:"code" doc:"([^"]+)"`), -1)
	var documented []string
	for row := range table(t, "Running tools", "| `error.code` | Meaning |") {
		documented = append(documented, code.FindAllString(row, -1)...)
	}
	slices.Sort(listed)
	slices.Sort(documented)
	if diff := cmp.Diff(listed, documented); diff != "" || len(documented) < 5 {
		t.Errorf("codes (-API +page):\n%s", diff)
	}
}

// TestFields compares the fields in the guide with those of the definition types.
func TestFields(t *testing.T) {
	t.Parallel()
	rows := table(t, "Your own apps for all accounts", "| Field | Content |")
	documented := map[string]bool{}
	for row := range rows {
		for field := range strings.SplitSeq(row, ",") {
			documented[strings.Trim(strings.TrimSpace(field), "`")] = true
		}
	}
	has := map[string]bool{}
	for field := range reflect.TypeFor[app.App]().Fields() {
		if name := field.Tag.Get("yaml"); name != "-" {
			has[name] = true
		}
	}
	if diff := cmp.Diff(has, documented); diff != "" {
		t.Errorf("fields (-code +page):\n%s", diff)
	}
	for _, kind := range []string{
		app.TypeOAuth2, app.TypeClient, app.TypeOAuth1, app.TypeKey, app.TypeBasic,
		app.TypeJWT, app.TypeExchange, app.TypeSigV4, app.TypeMCP, app.TypeNone,
	} {
		if !strings.Contains(rows["`auth`"], "`"+kind+"`") {
			t.Errorf("the types of auth lack %s", kind)
		}
	}
	for _, tier := range []app.Tier{app.Full, app.API, app.MCP, app.Request} {
		if !strings.Contains(rows["`tier`"], "`"+string(tier)+"`") {
			t.Errorf("the tiers lack %s", tier)
		}
	}
}

// TestReasons compares the states and reasons of connections with the code.
func TestReasons(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("platform.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("../internal/platform/connection/connection.go")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Connecting\n")
	_, section, _ = strings.Cut(section, "| `status` | `status_reason` | What to do |")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, found := range regexp.MustCompile(
		`(?m)^\t(?:Reason\w+|Active|NeedsReconnect|Failing|Disabled)(?: +Status)? += "([a-z_]+)"`).
		FindAllStringSubmatch(string(code), -1) {
		if !strings.Contains(section, "`"+found[1]+"`") {
			t.Errorf("the table of states lacks %s", found[1])
		}
	}
	for _, found := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(section, -1) {
		if !strings.Contains(string(code), `"`+found[1]+`"`) {
			t.Errorf("the table of states names %s, which no connection has", found[1])
		}
	}
}
