package egress_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

// open takes http and any port; only the rules about addresses are left.
func open() egress.Purpose {
	return egress.Purpose{
		Name: "test", PlainHTTP: true, Redirects: 3, Scope: egress.AnyHost, WireLimit: 64 << 10,
		DecodedLimit: 1 << 20, Deadline: 10 * time.Second,
	}
}

// names resolves the test's host names; every other name is unknown.
func names(m map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		if a, ok := m[host]; ok {
			return []netip.Addr{netip.MustParseAddr(a)}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
}

func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func code(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return fmt.Sprint(err)
}

func TestHostileTargets(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	live := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer live.Close()
	_, port, err := net.SplitHostPort(live.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	guard := egress.New(&egress.Options{
		OwnHosts: []string{"store.example"},
		Lookup: names(map[string]string{
			"loopback.test": "127.0.0.1", "mapped.test": "::ffff:127.0.0.1", "nat64.test": "64:ff9b::7f00:1",
			"metadata.test": "169.254.169.254",
		}),
	})
	client := guard.Client(open())
	corpus, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(corpus)) {
		want, address, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || want == "#" || strings.HasPrefix(line, "#") {
			continue
		}
		address = strings.ReplaceAll(address, "PORT", port)
		checked := guard.Check(open(), address)
		// Names are judged when they are dialled, not before.
		if byName := strings.Contains(address, ".test"); !byName && egress.Reason(checked) != want {
			t.Errorf("Check(%s) = %v (%q), want %q", address, checked, egress.Reason(checked), want)
		}
		if _, err := url.Parse(address); err != nil {
			continue // net/http cannot even make the request
		}
		_, err := get(t, client, address)
		if egress.Reason(err) != want && !strings.Contains(fmt.Sprint(err), "unsupported protocol") &&
			!strings.Contains(fmt.Sprint(err), "no Host") {
			t.Errorf("GET %s = %v (%q), want %q", address, err, egress.Reason(err), want)
		}
		var p *problem.Problem
		if errors.As(err, &p) && namesAddress(p.Error()+fmt.Sprint(p.Items)) {
			t.Errorf("GET %s names an address: %v", address, p)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the local listener was reached %d times, want 0", n)
	}
}

func namesAddress(text string) bool {
	for _, a := range []string{"127.0", "169.254", "64:ff9b", "::1", "7f00"} {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}

func TestAllow(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	t.Cleanup(live.Close)
	port := live.URL[strings.LastIndex(live.URL, ":"):]
	lookup := names(map[string]string{
		"loopback.test": "127.0.0.1", "localhost": "127.0.0.1",
		"private.test": "10.1.2.3", "metadata.test": "169.254.169.254",
	})
	strict := egress.Purpose{Name: "strict", Ports: []uint16{443}, WireLimit: 100, Deadline: 5 * time.Second}
	tests := []struct {
		name    string
		options egress.Options
		url     string
		want    string // reason, or "" for success
	}{
		{"nothing allowed", egress.Options{}, live.URL, egress.ReasonScheme},
		{"network lifts scheme, port and address", egress.Options{Allow: loopback()}, live.URL, ""},
		{"also by name", egress.Options{Allow: loopback()}, "http://loopback.test" + port, ""},
		{"also localhost", egress.Options{Allow: loopback()}, "http://localhost" + port, ""},
		{"not for other networks", egress.Options{Allow: loopback()}, "http://10.1.2.3" + port, egress.ReasonScheme},
		{
			"not for other networks by name",
			egress.Options{Allow: loopback()},
			"http://private.test" + port,
			egress.ReasonScheme,
		},
		{
			"not for other networks over https",
			egress.Options{Allow: loopback()},
			"https://private.test",
			egress.ReasonAddress,
		},
		{
			"never metadata",
			egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}},
			"https://metadata.test", egress.ReasonAddress,
		},
		{
			"never metadata by address",
			egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("169.254.0.0/16")}},
			"http://169.254.169.254", egress.ReasonAddress,
		},
		{"nothing else is lifted", egress.Options{Allow: loopback()}, "http://user@127.0.0.1" + port, egress.ReasonURL},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Lookup = lookup
			body, err := get(t, egress.New(&tt.options).Client(strict), tt.url)
			if got := egress.Reason(err); got != tt.want || tt.want == "" && body != "hello" {
				t.Errorf("GET %s = %q, %v (%q), want reason %q", tt.url, body, err, got, tt.want)
			}
		})
	}
}

// TestTrusted holds that what the operator names opens this purpose and no other.
func TestTrusted(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	t.Cleanup(live.Close)
	for _, tt := range []struct {
		name    string
		trusted []string
		options egress.Options
		url     string
		want    string
	}{
		{"nothing is trusted", nil, egress.Options{}, live.URL + "/", egress.ReasonScheme},
		{"an origin", []string{live.URL}, egress.Options{OnlyTrusted: true}, live.URL + "/a", ""},
		{"an origin with a slash", []string{live.URL + "/"}, egress.Options{}, live.URL + "/a", ""},
		{"another port of its host", []string{live.URL}, egress.Options{}, "https://127.0.0.1:1", egress.ReasonPort},
		{
			"only what is trusted",
			[]string{live.URL},
			egress.Options{OnlyTrusted: true},
			"https://example.com",
			egress.ReasonHost,
		},
		{
			"never metadata",
			[]string{"http://169.254.169.254"},
			egress.Options{},
			"http://169.254.169.254",
			egress.ReasonAddress,
		},
		{"a path", []string{live.URL + "/site"}, egress.Options{}, live.URL + "/site", ""},
		{"below a path", []string{live.URL + "/site/"}, egress.Options{}, live.URL + "/site/b", ""},
		{"beside a path", []string{live.URL + "/site"}, egress.Options{}, live.URL + "/sites", egress.ReasonScheme},
		{
			"out of a path",
			[]string{live.URL + "/site"},
			egress.Options{},
			live.URL + "/site/../stripe",
			egress.ReasonScheme,
		},
		{"out of a path, encoded", []string{live.URL + "/site"}, egress.Options{}, live.URL + "/site/%2e%2e/" +
			"stripe", egress.ReasonScheme},
		{
			"out of a path by an encoded slash",
			[]string{live.URL + "/site"},
			egress.Options{},
			live.URL + "/site/..%2fstripe", egress.ReasonScheme,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			purpose := egress.Purpose{Name: "test", Ports: []uint16{443}, WireLimit: 100, Deadline: 5 * time.Second}
			guard := egress.New(&tt.options)
			other := purpose
			purpose.Trusted = tt.trusted
			_, err := get(t, guard.Client(purpose), tt.url)
			if got := egress.Reason(err); got != tt.want && code(err) != tt.want {
				t.Errorf("GET %s = %v (%q), want reason %q", tt.url, err, got, tt.want)
			}
			if _, err := get(t, guard.Client(other), tt.url); egress.Reason(err) == "" {
				t.Errorf("GET %s for another purpose = %v, want a refusal", tt.url, err)
			}
		})
	}
}

// TestOwnListeners holds that no name and no network leads back into this
// service, but for a purpose that may call a host of it.
func TestOwnListeners(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(live.Close)
	at := netip.MustParseAddrPort(live.Listener.Addr().String())
	port := fmt.Sprint(":", at.Port())
	lookup := names(map[string]string{"store.test": "127.0.0.1", "alias.test": "127.0.0.1"})
	anywhere := netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())
	other := netip.AddrPortFrom(at.Addr(), at.Port()-1)
	for _, tt := range []struct {
		name     string
		listener netip.AddrPort
		own      []string
		callable []string
		url      string
		want     string
	}{
		{"listener by address", at, nil, nil, live.URL, egress.ReasonLoop},
		{"listener by a name", at, nil, nil, "http://alias.test" + port, egress.ReasonLoop},
		{"listener on every address", anywhere, nil, nil, "http://alias.test" + port, egress.ReasonLoop},
		{"another port", other, nil, nil, live.URL, ""},
		{"host", other, []string{"store.test"}, nil, "http://store.test" + port, egress.ReasonLoop},
		{
			"host with its port", other,
			[]string{"store.test" + port},
			nil, "http://store.test" + port,
			egress.ReasonLoop,
		},
		{"host with another port", other, []string{"store.test:1"}, nil, "http://store.test" + port, ""},
		{
			"a host that the purpose may call", at,
			[]string{"store.test"},
			[]string{"store.test"},
			"http://store.test" + port, "",
		},
		{
			"another name of it", at,
			[]string{"store.test"},
			[]string{"store.test"},
			"http://alias.test" + port,
			egress.ReasonLoop,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard := egress.New(&egress.Options{
				Allow: loopback(), Lookup: lookup, OwnHosts: tt.own, OwnListeners: []netip.AddrPort{tt.listener},
			})
			purpose := open()
			purpose.OwnHosts = tt.callable
			if _, err := get(t, guard.Client(purpose), tt.url); egress.Reason(err) != tt.want {
				t.Errorf("GET %s = %v, want reason %q", tt.url, err, tt.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://Example.com:443/a?b": "https://example.com", "http://127.0.0.1:8082/": "http://127.0.0.1:8082",
		"http://[::1]:80/": "http://[::1]", "https://user@example.com": "", "ftp://example.com": "", "": "",
	} {
		if got := egress.Origin(given); got != want {
			t.Errorf("Origin(%s) = %q, want %q", given, got, want)
		}
	}
}

func TestPurposes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		purpose egress.Purpose
		url     string
		want    string
	}{
		{egress.SiteAudit(), "http://example.com/", ""},
		{egress.SiteAudit(), "https://example.com:8443/", egress.ReasonPort},
		{egress.Webhook(), "https://example.com:8443/hook", ""},
		{egress.Webhook(), "http://example.com/hook", egress.ReasonScheme},
		{egress.Webhook(), "https://example.com:5432/", egress.ReasonPort},
		{egress.Connector(), "https://example.com:8443/mcp", ""},
		{egress.AppAPI(), "https://example.com:8443/", egress.ReasonPort},
		{egress.OAuth(), "http://example.com/token", egress.ReasonScheme},
		{egress.KeyDirectory(), "https://example.com/.well-known/x", ""},
		{egress.UCPProfile(), "https://example.com/profile.json", ""},
		{egress.Payments("api.stripe.com"), "https://api.stripe.com/v1", ""},
		{egress.Payments("api.stripe.com"), "https://example.com/v1", egress.ReasonHost},
		{egress.Facilitator("f.example.com"), "https://g.example.com/", egress.ReasonHost},
		{egress.KMS("k.example.com"), "https://k.example.com/", ""},
		{egress.Webhook(), "https://example.com/" + strings.Repeat("a", 2048), egress.ReasonURL},
		{egress.Webhook(), " https://example.com/", egress.ReasonURL},
	}
	for _, tt := range tests {
		if got := egress.Reason(egress.New(nil).Check(tt.purpose, tt.url)); got != tt.want {
			t.Errorf("Check(%s, %.60s) = %q, want %q", tt.purpose.Name, tt.url, got, tt.want)
		}
	}
}

func TestRebinding(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Connection", "close")
	}))
	defer live.Close()
	port := live.URL[strings.LastIndex(live.URL, ":"):]
	var asked atomic.Int32
	guard := egress.New(&egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, // stands for the public answer
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			if asked.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}, nil
		},
	})
	client := guard.Client(open())
	if _, err := get(t, client, "http://rebind.test"+port); err != nil {
		t.Fatalf("first call = %v, want success", err)
	}
	if _, err := get(t, client, "http://rebind.test"+port); egress.Reason(err) != egress.ReasonAddress {
		t.Errorf("second call = %v, want it refused by its new address", err)
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("listener was reached %d times, want 1", n)
	}
}

func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	guard := egress.New(&egress.Options{
		Allow:  loopback(),
		Lookup: names(map[string]string{"private.test": "10.0.0.1"}),
	})
	if _, err := get(t, guard.Client(open()), "http://private.test/"); egress.Reason(err) != egress.ReasonAddress {
		t.Errorf("GET with a proxy set = %v, want the address to be judged", err)
	}
	if n := proxied.Load(); n != 0 {
		t.Errorf("proxy was used %d times, want 0", n)
	}
}

func TestPooledConnectionsStayWithTheirPurpose(t *testing.T) {
	t.Parallel()
	var conns sync.Map
	live := httptest.NewServer(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { conns.Store(r.RemoteAddr, true) }))
	defer live.Close()
	guard := egress.New(&egress.Options{Allow: loopback()})
	one, two := guard.Client(open()), guard.Client(open())
	for range 2 {
		for _, c := range []*http.Client{one, two} {
			if _, err := get(t, c, live.URL); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n != 2 {
		t.Errorf("two purposes used %d connections for two calls each, want one each", n)
	}
}

func TestDenialsAreTold(t *testing.T) {
	t.Parallel()
	var got []egress.Denial
	guard := egress.New(&egress.Options{Denied: func(_ context.Context, d egress.Denial) { got = append(got, d) }})
	if _, err := get(t, guard.Client(egress.Webhook()), "https://10.0.0.1/hook?token=secret"); err == nil {
		t.Error("GET of a private address succeeded")
	}
	if diff := cmp.Diff([]egress.Denial{{Purpose: "webhook", Host: "10.0.0.1", Reason: "private_address"}},
		got); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
}

func TestFailuresNameNothing(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	garbage, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = garbage.Close() }()
	go func() {
		for {
			c, err := garbage.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n")
			_ = c.Close()
		}
	}()
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	defer selfSigned.Close()
	client := egress.New(&egress.Options{Allow: loopback(), Lookup: names(nil)}).Client(open())
	for url, want := range map[string]string{
		closed.URL + "/?token=secret":       "target_unreachable",
		"http://unknown.test/?token=secret": "target_unreachable",
		"http://" + garbage.Addr().String(): "target_bad_answer",
		selfSigned.URL:                      "target_bad_answer",
	} {
		_, err := get(t, client, url)
		if code(err) != want {
			t.Errorf("GET %s = %v, want %s", url, err, want)
		}
		if text := egress.Cause(err).Error(); strings.Contains(text, "127.0.0.1") || strings.Contains(text, "secret") {
			t.Errorf("Cause of GET %s = %q, names address or secret", url, text)
		}
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
