package schematest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/schematest"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	const ucpVersion, acpVersion = "2026-04-08", "2026-04-17"
	tests := []struct {
		file, ref string
		set       func(t testing.TB) *schematest.Set
	}{
		{"ucp_checkout_escalation.json", "shopping/checkout.json", nil},
		{"ucp_complete_answer.json", "shopping/checkout.json", nil},
		{"ucp_checkout_completed.json", "shopping/checkout.json", nil},
		{"ucp_checkout_expired.json", "shopping/checkout.json", nil},
		{"ucp_order.json", "shopping/order.json", nil},
		{"ucp_error.json", schematest.UCPErrorResponse(ucpVersion), nil},
		{"ucp_catalog_search.json", "shopping/catalog_search.json#/$defs/search_response", nil},
		{"ucp_profile.json", schematest.UCPBusinessProfile(ucpVersion), nil},
		{"acp_session_escalation.json", "CheckoutSession", acpSet},
		{"acp_complete_answer.json", "CheckoutSession", acpSet},
		{"acp_session_expired.json", "CheckoutSession", acpSet},
		{"acp_session_completed.json", "CheckoutSessionWithOrder", acpSet},
		{"acp_discovery.json", "DiscoveryResponse", acpSet},
		{"acp_feed.json", "ProductsResponse", schematest.ACPFeed},
	}
	if len(tests) != 14 {
		t.Fatalf("%d samples are checked, want 14", len(tests))
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			set := tt.set
			if set == nil {
				set = func(t testing.TB) *schematest.Set { t.Helper(); return schematest.UCP(t, ucpVersion) }
			}
			set(t).Validate(t, tt.ref, schematest.Sample(t, tt.file))
		})
	}
}

func acpSet(t testing.TB) *schematest.Set { return schematest.ACP(t, "2026-04-17") }

// The samples of 2026-04-08 also fit the newer schemas once the version is
// replaced, and those of ACP 2026-04-17 the older once resolution is gone.
func TestSamplesInTheOtherVersion(t *testing.T) {
	t.Parallel()
	newer := schematest.UCP(t, "2026-08-25")
	for file, ref := range map[string]string{
		"ucp_checkout_escalation.json": "shopping/checkout.json",
		"ucp_error.json":               schematest.UCPErrorResponse("2026-08-25"),
		"ucp_catalog_search.json":      "shopping/catalog_search.json#/$defs/search_response",
	} {
		body := strings.ReplaceAll(string(schematest.Sample(t, file)), "2026-04-08", "2026-08-25")
		newer.Validate(t, ref, []byte(body))
	}
	older := schematest.ACP(t, "2026-01-30")
	sample := schematest.Sample(t, "acp_session_escalation.json")
	if older.Check("CheckoutSession", sample) == nil {
		t.Error("ACP 2026-01-30 accepts resolution, want a refusal")
	}
	stripped := strings.ReplaceAll(string(sample), `"resolution": "requires_buyer_input",`, "")
	older.Validate(t, "CheckoutSession", []byte(stripped))
}

func TestValidationFindsFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new string }{
		{
			"two totals", `{"type":"total","display_text":"Due today","amount":0}]`,
			`{"type":"total","amount":0},{"type":"total","amount":0}]`,
		},
		{
			"positive discount", `"trial_credit"`,
			`"discount","amount2":1},{"type":"discount","amount":5},{"type":"trial_credit"`,
		},
		{"unknown status", `"requires_escalation"`, `"waiting"`},
		{"relative address", `"continue_url":"https://checkout.stripe.com`, `"continue_url":"//x y`},
		{"no payment_handlers", `,"payment_handlers":{}`, ``},
	}
	set := schematest.UCP(t, "2026-04-08")
	sample := string(schematest.Sample(t, "ucp_checkout_escalation.json"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := strings.Replace(sample, tt.old, tt.new, 1)
			if body == sample {
				t.Fatal("the sample was not changed")
			}
			if set.Check("shopping/checkout.json", []byte(body)) == nil {
				t.Error("Check accepted the body, want a refusal")
			}
		})
	}
	if schematest.ACP(t, "2026-04-17").Check("Capabilities", []byte(`{"extensions":[]}`)) == nil {
		t.Error("ACP accepts extensions: [], want a refusal")
	}
}

func TestRequestView(t *testing.T) {
	t.Parallel()
	tests := []struct {
		operation, body string
		fits            bool
	}{
		{"create", `{"line_items":[{"item":{"id":"a"},"quantity":1}]}`, true},
		{"create", `{}`, false},
		{"create", `{"line_items":[{"item":{},"quantity":1}]}`, false},
		{"create", `{"line_items":[{"item":{"id":"a"},"quantity":0}]}`, false},
		{"update", `{"line_items":[{"id":"li_1","item":{"id":"a"},"quantity":1}]}`, true},
		{"update", `{"buyer":{}}`, false},
		{"complete", `{"payment":{}}`, true},
		{"complete", `{}`, false},
	}
	for _, version := range []string{"2026-04-08", "2026-08-25"} {
		set := schematest.UCP(t, version)
		for _, tt := range tests {
			err := set.CheckRequest(tt.operation, "shopping/checkout.json", []byte(tt.body))
			if (err == nil) != tt.fits {
				t.Errorf("%s %s %s: %v, want fits = %t", version, tt.operation, tt.body, err, tt.fits)
			}
		}
	}
}

// Every schema of both versions compiles, for answers and for requests.
func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	for version, folder := range map[string]string{"2026-04-08": "2026-04-08", "2026-08-25": "draft"} {
		set := schematest.UCP(t, version)
		root := filepath.Join(schematest.Dir(t, "specs", "commerce", "ucp"), folder, "schemas")
		err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			for _, operation := range []string{"", "create", "update", "complete"} {
				if err := set.CheckRequest(operation, path, []byte(`{}`)); err != nil && strings.HasPrefix(err.Error(),
					"compiling") {
					t.Errorf("%s %s %q: %v", version, path, operation, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSameJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, ` {"b":[2], "a":1}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":null}`, `{}`, false},
	}
	for _, tt := range tests {
		if got := schematest.SameJSON(t, []byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("SameJSON(%s, %s) = %t, want %t", tt.a, tt.b, got, tt.want)
		}
	}
}
