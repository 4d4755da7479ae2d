package ucp_test

import (
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"

	"github.com/google/go-cmp/cmp"
)

func TestIntersect(t *testing.T) {
	t.Parallel()
	at := func(versions ...ucp.Version) []ucp.Capability {
		var list []ucp.Capability
		for _, v := range versions {
			list = append(list, ucp.Capability{Version: v, Schema: "https://ucp.dev/x"})
		}
		return list
	}
	extending := func(v ucp.Version, parents ...string) []ucp.Capability {
		return []ucp.Capability{{Version: v, Extends: parents}}
	}
	tests := []struct {
		name         string
		ours, theirs ucp.Capabilities
		want         map[string]ucp.Version
	}{
		{
			"same",
			ucp.Capabilities{"a.b": at("1")},
			ucp.Capabilities{"a.b": at("1")},
			map[string]ucp.Version{"a.b": "1"},
		},
		{
			"highest common",
			ucp.Capabilities{"a.b": at("1", "3", "2")},
			ucp.Capabilities{"a.b": at("2", "1", "4")},
			map[string]ucp.Version{"a.b": "2"},
		},
		{
			"no common version",
			ucp.Capabilities{"a.b": at("1")},
			ucp.Capabilities{"a.b": at("2")},
			map[string]ucp.Version{},
		},
		{"theirs only", ucp.Capabilities{}, ucp.Capabilities{"a.b": at("1")}, map[string]ucp.Version{}},
		{
			"extension with parent",
			ucp.Capabilities{"p": at("1"), "e": extending("1", "p")},
			ucp.Capabilities{"p": at("1"), "e": at("1")},
			map[string]ucp.Version{"p": "1", "e": "1"},
		},
		{
			"orphan",
			ucp.Capabilities{"p": at("1"), "e": extending("1", "p")},
			ucp.Capabilities{"e": at("1")},
			map[string]ucp.Version{},
		},
		{
			"orphan of an orphan",
			ucp.Capabilities{
				"p": at("1"), "e": extending("1", "p"), "f": extending("1", "e"),
				"g": extending("1", "f"),
			},
			ucp.Capabilities{"e": at("1"), "f": at("1"), "g": at("1")},
			map[string]ucp.Version{},
		},
		{
			"one of two parents",
			ucp.Capabilities{"p": at("1"), "e": extending("1", "x", "p")},
			ucp.Capabilities{"p": at("1"), "e": at("1")},
			map[string]ucp.Version{"p": "1", "e": "1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := ucp.Capabilities{}
			for name, v := range tt.want {
				want[name] = []ucp.Capability{{Version: v}}
			}
			if diff := cmp.Diff(want, ucp.Intersect(tt.ours, tt.theirs)); diff != "" {
				t.Errorf("Intersect (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	all := ucp.Response(ucp.Newest, ucp.CapabilityCheckout, ucp.CapabilityCatalogSearch)
	got := all.Only(ucp.CapabilityCheckout, ucp.CapabilityCatalogLookup)
	if diff := cmp.Diff(ucp.Response(ucp.Newest, ucp.CapabilityCheckout), got); diff != "" {
		t.Errorf("Only (-want +got):\n%s", diff)
	}
}

const goodProfile = `{"ucp":{"version":"2026-08-25","services":{},"payment_handlers":{},"capabilities":{
	"dev.ucp.shopping.checkout":[{"version":"2026-08-25","spec":"https://x.example/s"}],
	"com.example.gift":[{"version":"2026-01-01","extends":"dev.ucp.shopping.checkout"}],
	"com.example.both":[{"version":"2026-01-01","extends":["dev.ucp.shopping.checkout","dev.ucp.shopping.cart"]}]}},
	"keys":[{"kid":"k1","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
		{"kid":"k2","kty":"EC","crv":"P-384","x":"AA","y":"AA"},{"kid":"k3","kty":"OKP","crv":"Ed25519","x":"AA"}]}`

func TestParsePlatformProfile(t *testing.T) {
	t.Parallel()
	p, err := ucp.ParsePlatformProfile([]byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	want := ucp.Capabilities{
		"dev.ucp.shopping.checkout": {{Version: "2026-08-25"}},
		"com.example.gift":          {{Version: "2026-01-01", Extends: ucp.Extends{"dev.ucp.shopping.checkout"}}},
		"com.example.both": {{
			Version: "2026-01-01",
			Extends: ucp.Extends{"dev.ucp.shopping.checkout", "dev.ucp.shopping.cart"},
		}},
	}
	if diff := cmp.Diff(want, p.Capabilities); diff != "" || p.Version != "2026-08-25" {
		t.Errorf("version %q, capabilities (-want +got):\n%s", p.Version, diff)
	}
	if len(p.Keys) != 1 || p.Keys[0].KID != "k1" {
		t.Errorf("keys = %+v, want k1 alone: the others cannot be used here", p.Keys)
	}
	shared := ucp.Intersect(ucp.Declared(ucp.Newest), p.Capabilities)
	if diff := cmp.Diff(ucp.Response(ucp.Newest, ucp.CapabilityCheckout), shared); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	older := strings.ReplaceAll(strings.ReplaceAll(goodProfile, `"keys"`, `"signing_keys"`), "2026-08-25", "2026-04-08")
	if p, err := ucp.ParsePlatformProfile([]byte(older)); err != nil || len(p.Keys) != 1 {
		t.Errorf("profile of 2026-04-08 = %+v, %v, want one key", p, err)
	}
	// Negotiate handles a release with other shapes.
	ancient := `{"ucp":{"version":"2026-01-11","capabilities":[{"name":"dev.ucp.shopping.checkout"}]}}`
	if p, err := ucp.ParsePlatformProfile([]byte(ancient)); err != nil || p.Version != "2026-01-11" {
		t.Errorf("profile of 2026-01-11 = %+v, %v, want its version", p, err)
	}
}

func TestParsePlatformProfileRefuses(t *testing.T) {
	t.Parallel()
	many := `{"ucp":{"version":"2026-08-25","capabilities":{"a.b":[` +
		strings.TrimSuffix(strings.Repeat(`{"version":"1"},`, 21), ",") + `]}}}`
	tests := []struct{ name, in, where string }{
		{"not JSON", `<html>`, ""},
		{"array", `[]`, "$:"},
		{"no ucp", `{}`, "$.ucp:"},
		{"ucp is text", `{"ucp":"x"}`, "$.ucp:"},
		{"no version", `{"ucp":{}}`, "$.ucp.version:"},
		{"version is a number", `{"ucp":{"version":1}}`, "$.ucp.version:"},
		{"version is no date", `{"ucp":{"version":"draft"}}`, "$.ucp.version:"},
		{"capabilities are a list", `{"ucp":{"version":"2026-08-25","capabilities":[]}}`, "$.ucp.capabilities:"},
		{
			"a capability is no list", `{"ucp":{"version":"2026-08-25","capabilities":{"a.b":{}}}}`,
			"$.ucp.capabilities['a.b']:",
		},
		{
			"no version inside", `{"ucp":{"version":"2026-08-25","capabilities":{"a.b":[{}]}}}`,
			"$.ucp.capabilities['a.b'][0].version:",
		},
		{
			"extends a number", `{"ucp":{"version":"2026-08-25","capabilities":{"a.b":[{"version":"1","extends":1}]}}}`,
			".extends:",
		},
		{"many versions", many, "$.ucp.capabilities['a.b']:"},
		{"large", `{"ucp":{"version":"2026-08-25"},"x":"` + strings.Repeat("a", ucp.MaxProfileBytes) + `"}`, "256 KiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ucp.ParsePlatformProfile([]byte(tt.in))
			if !problem.Is(err, "profile_malformed") || !strings.Contains(err.Error(), tt.where) {
				t.Fatalf("ParsePlatformProfile(%.80s) = %v, want profile_malformed at %s", tt.in, err, tt.where)
			}
			if e := ucp.FromProblem(asProblem(t, err)); e.Status() != 422 || e.RPCCode() != ucp.RPCDiscoveryError {
				t.Errorf("status %d, code %d, want 422 and -32001", e.Status(), e.RPCCode())
			}
		})
	}
}

func FuzzParsePlatformProfile(f *testing.F) {
	for _, seed := range []string{
		goodProfile, `{"ucp":{"version":"2026-04-08"},"signing_keys":[{"kty":"RSA"}]}`,
		`{"ucp":[]}`, `{}`, `{"ucp":{"version":"2026-08-25","capabilities":{"":[{"version":""}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ucp.ParsePlatformProfile(data)
		if err != nil {
			if !problem.Is(err, "profile_malformed") {
				t.Fatalf("ParsePlatformProfile(%q) = %v", data, err)
			}
			return
		}
		for name := range ucp.Intersect(ucp.Declared(ucp.Newest), p.Capabilities) {
			if len(ucp.Declared(ucp.Newest)[name]) == 0 {
				t.Fatalf("%q is shared but not declared", name)
			}
		}
	})
}
