// Package grant is what a sign-in at a vendor ends with: credentials, and whose
// account they open.
//
//	form or consent -> vendor -> Grant{Credentials, Identity, …} -> Connection
//
// Credentials keep themselves out of logs and responses.
package grant

import "time"

// Identity is whose account at the vendor it is.
type Identity struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"`
	Email  string `json:"email,omitempty"`
	Tenant string `json:"tenant,omitempty"`
}

// Fill returns the identity with what it lacks from another.
func (i Identity) Fill(more Identity) Identity {
	for _, pair := range []struct{ to, from *string }{
		{&i.ID, &more.ID},
		{&i.Name, &more.Name},
		{&i.Email, &more.Email},
		{&i.Tenant, &more.Tenant},
	} {
		if *pair.to == "" {
			*pair.to = *pair.from
		}
	}
	return i
}

// Differs reports whether two identities are known to differ.
func (i Identity) Differs(other Identity) bool {
	return i.ID != "" && other.ID != "" && i.ID != other.ID || i.Tenant != "" && other.Tenant != "" &&
		i.Tenant != other.Tenant
}

// Called is what people know it by.
func (i Identity) Called() string {
	for _, text := range []string{i.Email, i.Name, i.ID} {
		if text != "" {
			return text
		}
	}
	return "unnamed"
}

// Credentials are the secrets of a connection by name: the fields of its form,
// access_token, refresh_token, previous_refresh_token and what extra tokens are
// called. They are never logged and never leave the process but to the vendor.
type Credentials map[string]string

// String keeps credentials out of logs.
func (Credentials) String() string { return "[credentials]" }

// GoString keeps credentials out of logs.
func (Credentials) GoString() string { return "[credentials]" }

// MarshalJSON keeps credentials out of answers.
func (Credentials) MarshalJSON() ([]byte, error) { return []byte(`"[credentials]"`), nil }

// Grant is what a sign-in, or a refresh, ends with.
type Grant struct {
	Credentials Credentials
	Params      map[string]string // learned on the way: instance_url, cloudid
	Scopes      []string          // granted; nil: as asked for
	ExpiresAt   time.Time         // zero: never, or unknown
	Identity    Identity          // where the response told it
}
