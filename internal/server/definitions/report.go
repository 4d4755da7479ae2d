package definitions

import (
	"slices"

	"ace/internal/platform/app"
)

// Report counts what a catalog holds.
type Report struct {
	Apps  int            `json:"apps"`
	Own   int            `json:"own"`   // of these, from the operator's folder
	Tiers map[string]int `json:"tiers"` // apps by tier
	Auth  map[string]int `json:"auth"`  // apps by kind of authentication; an app may have several
	// Verified are apps of apps.jsonl by how their facts were checked; see
	// app.App.Verified.
	Verified map[string]int `json:"verified"`
	// Available are apps that an account can connect: at once, or after the
	// operator has registered an OAuth client with the vendor (NeedClient).
	Available  int     `json:"available"`
	NeedClient int     `json:"need_client"`
	WithTools  int     `json:"with_tools"` // apps with tools besides those that every app has
	Tools      int     `json:"tools"`      // without those that every app has
	Triggers   int     `json:"triggers"`   // that accounts can create
	Whoami     int     `json:"whoami"`     // apps that return whose account is connected
	Checked    Checked `json:"checked"`
}

// Checked is when the facts of the oldest and the newest definition were read:
// 2026-11-21.
type Checked struct {
	Oldest string `json:"oldest"`
	Newest string `json:"newest"`
}

// Report counts. The demo app is no part of the catalog.
func (s *Set) Report() Report {
	r := Report{Own: len(s.Own), Tiers: map[string]int{}, Auth: map[string]int{}, Verified: map[string]int{}}
	for _, tier := range []app.Tier{app.Full, app.API, app.MCP, app.Request} {
		r.Tiers[string(tier)] = 0
	}
	for _, a := range s.Apps {
		if !a.Listed {
			continue
		}
		r.Apps++
		r.Tiers[string(a.Tier)]++
		if a.Verified != "" {
			r.Verified[a.Verified]++
		}
		if len(a.Schemes) > 0 {
			r.Available++
		}
		if a.NeedsClient() {
			r.NeedClient++
		}
		var kinds []string
		for i := range a.Schemes {
			if kind := a.Schemes[i].Type; !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
				r.Auth[kind]++
			}
		}
		if a.ToolCount() > 0 {
			r.WithTools++
		}
		r.Tools += a.ToolCount()
		r.Triggers += len(a.Offers())
		if a.Who != nil {
			r.Whoami++
		}
		if r.Checked.Oldest == "" || a.Checked < r.Checked.Oldest {
			r.Checked.Oldest = a.Checked
		}
		r.Checked.Newest = max(r.Checked.Newest, a.Checked)
	}
	return r
}
