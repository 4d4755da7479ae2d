package app_test

import (
	"strings"
	"testing"

	"ace/internal/platform/app"
)

func TestParamClean(t *testing.T) {
	t.Parallel()
	subdomain := app.Param{
		Match: "[a-z0-9-]{1,20}", StripPrefix: "https://", StripSuffix: ".example.com",
		Example: "acme",
	}
	tests := []struct {
		name, in, want string
		param          app.Param
		fault          string
	}{
		{"as it is", "acme", "acme", subdomain, ""},
		{"a pasted address", " https://acme.example.com/ ", "acme", subdomain, ""},
		{"another host", "https://evil.test/x", "", subdomain, "For example: acme"},
		{"a piece that matches", "acme!", "", subdomain, "does not look right"},
		{"nothing", " ", "", subdomain, "belongs here"},
		{"nothing, with a default", "", "eu", app.Param{Default: "eu", Enum: []string{"eu", "us"}}, ""},
		{"nothing, where it may be", "", "", app.Param{Optional: true}, ""},
		{"not in the list", "mars", "", app.Param{Enum: []string{"eu", "us"}}, "One of: eu, us."},
		{"a line break", "a\r\nX-Header: b", "", app.Param{}, "visible characters"},
		{"too long", strings.Repeat("a", 501), "", app.Param{}, "at most 500"},
		{"a pattern that is none", "a", "", app.Param{Match: "("}, "does not look right"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, fault := tt.param.Clean(tt.in)
			if got != tt.want || (tt.fault == "") != (fault == "") || !strings.Contains(fault, tt.fault) {
				t.Errorf("Clean(%q) = %q, %q, want %q, %q", tt.in, got, fault, tt.want, tt.fault)
			}
		})
	}
}

func TestFieldClean(t *testing.T) {
	t.Parallel()
	key := app.Field{Name: "key", Prefix: "sk_", Match: "sk_[a-z]{4}"}
	tests := []struct {
		name, in, want string
		field          app.Field
		fault          string
	}{
		{"pasted with spaces", " sk_abcd\n", "sk_abcd", key, ""},
		{"another kind", "pk_abcd", "", key, "begins with sk_"},
		{"cut", "sk_ab", "", key, "copied whole"},
		{"nothing", "", "", key, "belongs here"},
		{"nothing, where it may be", "", "", app.Field{Optional: true}, ""},
		{"too long", strings.Repeat("a", 20001), "", app.Field{}, "20000"},
		{"lines inside stay", "a\nb", "a\nb", app.Field{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, fault := tt.field.Clean(tt.in)
			if got != tt.want || (tt.fault == "") != (fault == "") || !strings.Contains(fault, tt.fault) {
				t.Errorf("Clean = %q, %q, want %q, %q", got, fault, tt.want, tt.fault)
			}
			if fault != "" && tt.in != "" && strings.Contains(fault, tt.in) {
				t.Errorf("the fault %q tells the value", fault)
			}
		})
	}
}
