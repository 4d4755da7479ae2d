package grant_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ace/internal/platform/connection/grant"
)

func TestIdentities(t *testing.T) {
	t.Parallel()
	ann := grant.Identity{ID: "1", Email: "ann@acme.example", Tenant: "acme"}
	tests := []struct {
		other   grant.Identity
		differs bool
	}{
		{ann, false},
		{grant.Identity{}, false},
		{grant.Identity{ID: "1"}, false},
		{grant.Identity{ID: "2", Tenant: "acme"}, true},
		{grant.Identity{ID: "1", Tenant: "other"}, true},
		{grant.Identity{Email: "bob@acme.example"}, false}, // addresses change
	}
	for _, tt := range tests {
		if got := ann.Differs(tt.other); got != tt.differs {
			t.Errorf("%+v differs from %+v: %v, want %v", ann, tt.other, got, tt.differs)
		}
	}
	if got := (grant.Identity{Name: "Ann"}).Fill(ann); got !=
		(grant.Identity{ID: "1", Name: "Ann", Email: "ann@acme.example", Tenant: "acme"}) {
		t.Errorf("Fill = %+v", got)
	}
	for want, i := range map[string]grant.Identity{
		"ann@acme.example": ann, "Ann": {ID: "1", Name: "Ann"},
		"1": {ID: "1"}, "unnamed": {Tenant: "acme"},
	} {
		if got := i.Called(); got != want {
			t.Errorf("%+v is called %s, want %s", i, got, want)
		}
	}
}

func TestCredentialsAreNotShown(t *testing.T) {
	t.Parallel()
	g := grant.Grant{Credentials: grant.Credentials{"key": "s3cret"}}
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{
		string(text), fmt.Sprintf("%v", g), fmt.Sprintf("%+v", g), fmt.Sprintf("%#v", g),
		fmt.Sprint(g.Credentials),
	} {
		if strings.Contains(shown, "s3cret") {
			t.Errorf("shown as %s", shown)
		}
	}
}
