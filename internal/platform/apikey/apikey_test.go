package apikey_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
)

func TestWellFormed(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"ace_00000000000000000000000000000000hNAS": false, // a checksum that was made up
		"": false, "ace_": false,
		"ACE_000000000000000000000000000000abcdef":  false,
		"ace_00000000000000000000000000000-abcdef":  false,
		"ace_0000000000000000000000000000000abcdef": false,
	}
	for text, want := range tests {
		if got := apikey.WellFormed(text); got != want {
			t.Errorf("WellFormed(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestParsePermissions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   []string
		want apikey.Permissions
		ok   bool
	}{
		{[]string{"read"}, apikey.Read, true},
		{[]string{"Run", " connect "}, apikey.Run | apikey.Connect, true},
		{[]string{"read", "read"}, apikey.Read, true},
		{[]string{"read", "connect", "run"}, apikey.All, true},
		{nil, 0, false},
		{[]string{"admin"}, 0, false},
		{[]string{"read,run"}, 0, false},
	}
	for _, tt := range tests {
		got, err := apikey.ParsePermissions(tt.in)
		if got != tt.want || (err == nil) != tt.ok || err != nil && !problem.Is(err, "invalid_permissions") {
			t.Errorf("ParsePermissions(%q) = %v, %v, want %v, ok %v", tt.in, got, err, tt.want, tt.ok)
		}
	}
}

func TestRestrictions(t *testing.T) {
	t.Parallel()
	free := apikey.Restrictions{}
	narrow := apikey.Restrictions{
		Apps: []string{"notes"}, Tools: []string{"notes__list"},
		Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}
	tests := []struct {
		name      string
		got, want bool
	}{
		{"free, any app", free.AllowsApp("mail"), true},
		{"free, any tool", free.AllowsTool("mail", "mail__send"), true},
		{"free, any address", free.AllowsAddress(netip.MustParseAddr("::1")), true},
		{"its app", narrow.AllowsApp("notes"), true},
		{"another app", narrow.AllowsApp("mail"), false},
		{"its tool", narrow.AllowsTool("notes", "notes__list"), true},
		{"its tool, by an id that it had", narrow.AllowsTool("notes", "notes__all", "notes__list"), true},
		{"another tool, by any id", narrow.AllowsTool("notes", "notes__all", "notes__every"), false},
		{"another tool of its app", narrow.AllowsTool("notes", "notes__delete"), false},
		{"its tool under another app", narrow.AllowsTool("mail", "notes__list"), false},
		{"inside", narrow.AllowsAddress(netip.MustParseAddr("10.1.2.3")), true},
		{"inside, mapped", narrow.AllowsAddress(netip.MustParseAddr("::ffff:10.1.2.3")), true},
		{"outside", narrow.AllowsAddress(netip.MustParseAddr("192.0.2.1")), false},
		{"unknown address", narrow.AllowsAddress(netip.Addr{}), false},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tests := []struct {
		name string
		key  apikey.Key
		want bool
	}{
		{"for ever", apikey.Key{}, true},
		{"before its end", apikey.Key{ExpiresAt: now.Add(time.Second)}, true},
		{"at its end", apikey.Key{ExpiresAt: now}, false},
		{"revoked", apikey.Key{RevokedAt: now.Add(time.Hour)}, false},
	}
	for _, tt := range tests {
		if got := tt.key.Live(now); got != tt.want {
			t.Errorf("%s: Live = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func ExampleKey_Require() {
	key := apikey.Key{Permissions: apikey.Read}
	fmt.Println(key.Require(apikey.Read))
	fmt.Println(key.Require(apikey.Read | apikey.Run))
	// Output:
	// <nil>
	// permission_required: This key lacks the permission run. Ask the owner of the account for a key that has it.
}

func FuzzWellFormed(f *testing.F) {
	f.Add("ace_000000000000000000000000000000abcdef")
	f.Add("ace_ÿ")
	f.Fuzz(func(t *testing.T, text string) {
		if apikey.WellFormed(text) && len(text) != 40 {
			t.Errorf("%q is no key", text)
		}
	})
}

// An address that is not known is in no network, not even in all of them.
func TestUnknownAddressIsNowhere(t *testing.T) {
	t.Parallel()
	everywhere := apikey.Restrictions{
		Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
	}
	if everywhere.AllowsAddress(netip.Addr{}) || !everywhere.AllowsAddress(netip.MustParseAddr("192.0.2.1")) {
		t.Error("AllowsAddress takes an unknown address, or refuses a known one")
	}
}

func TestParseNetworks(t *testing.T) {
	t.Parallel()
	got, err := apikey.ParseNetworks([]string{"192.0.2.7/24", "2001:db8::1/32"}, "/x")
	want := []string{"192.0.2.0/24", "2001:db8::/32"}
	if texts := (apikey.Restrictions{Networks: got}).NetworkTexts(); err != nil || !slices.Equal(texts, want) {
		t.Errorf("ParseNetworks = %v, %v; want %v", texts, err, want)
	}
	for _, text := range []string{"", "everywhere", "192.0.2.7", "192.0.2.0/33"} {
		if _, err := apikey.ParseNetworks([]string{text}, "/x"); !problem.Is(err, "invalid_network") {
			t.Errorf("ParseNetworks(%q) = %v, want invalid_network", text, err)
		}
	}
}
