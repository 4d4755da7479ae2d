package conformance

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/test/harness"
)

// addingKey returns the address of a proxy that adds the key of a platform to
// requests: the suite sends none.
func (h *platformHost) addingKey(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which scenarios are about
		r.Out.Header.Set("Authorization", "Bearer "+h.key)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// TestPlatformSuite runs the scenarios of the conformance suite that apply to the
// platform, with a key, on the newest version of each era.
func TestPlatformSuite(t *testing.T) {
	t.Parallel()
	const page = "mcp-scenarios-platform.md"
	command := mcpSuites(t)["newer"]
	applies, reasons := scenarios(t, page)
	server := startPlatformWith(t, "conformance", "ACE_RATE_LIMIT=off").addingKey(t)
	unheard := map[string]bool{}
	for scenario := range reasons {
		unheard[scenario] = true
	}
	for scenario, versions := range applies {
		for version := range strings.SplitSeq(versions, ", ") {
			unheard[scenario+" of "+version] = true
		}
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, scenario := range listed(t, command, version) {
			if reasons[scenario] != "" {
				delete(unheard, scenario)
				continue
			}
			if !strings.Contains(applies[scenario], version) {
				t.Errorf("the suite has the scenario %s of %s: run it, or say in %s why it does not apply",
					scenario, version, page)
				continue
			}
			delete(unheard, scenario+" of "+version)
			t.Run(version+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				out, err := exec.CommandContext(t.Context(), command[0], append(slices.Clone(command[1:]), "server",
					"--url", server+"/mcp", "--scenario", scenario, "--spec-version", version,
					"--timeout", "300000", "-o", t.TempDir())...).CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
	for scenario := range unheard {
		t.Errorf("%s speaks of %s, which the suite does not have", page, scenario)
	}
}

// TestPlatformAuthorizationSuite runs the scenarios of the conformance suite for
// authorization servers: metadata, and a code for a client that registered itself, to
// which the user agrees in a browser.
func TestPlatformAuthorizationSuite(t *testing.T) {
	command := mcpSuites(t)["newer"]
	b := browsertest.Start(t)
	host := startPlatform(t)
	tab := host.user(t, b)
	_, port, _ := strings.Cut(harness.FreeAddr(t), ":")
	_, text, err := harness.Call(t, http.MethodPost, host.url+"/oauth/register",
		`{"client_name":"Conformance suite","redirect_uris":["http://127.0.0.1:`+port+`/callback"]}`)
	if err != nil {
		t.Fatal(err)
	}
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(text), &client); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.CommandContext(
		t.Context(),
		command[0],
		append(slices.Clone(command[1:]), "authorization", "--url", host.url,
			"--client-id", client.ID, "--resource", host.url+"/mcp", "-p", port, "-o", t.TempDir())...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), host.url+"/oauth/authorize?") {
			letIn(tab, "Conformance suite", lines.Text())
		}
	}
	all := strings.Join(said, "\n")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	for _, scenario := range []string{"authorization-server-metadata-endpoint", "authorization-code-grant"} {
		if !strings.Contains(all, "✓ "+scenario+": ") {
			t.Errorf("the suite did not pass %s:\n%s", scenario, all)
		}
	}
}
