package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal/kek"
	"ace/internal/storage"
	"ace/internal/storage/vaultstore"
)

// openVault reads the keys that secrets are sealed with. A master key file is
// created only if nothing is sealed yet: a new one would open nothing.
func (s *Server) openVault(ctx context.Context) error {
	used, err := vaultstore.Used(ctx, s.db)
	if err != nil {
		return err
	}
	o := &vaultstore.Options{Log: s.log, Step: s.step}
	o.KEK, err = kek.Open(s.cfg.KEKURL, s.kekOptions("ACE_KEK_URL", s.cfg.KEKTokenFile, "ACE_KEK_TOKEN_FILE", !used))
	if errors.Is(err, kek.ErrNoKey) && used {
		return fmt.Errorf(
			"%w, but the database holds secrets whose keys it wraps: put it back from a backup, or name it in "+
				"ACE_MASTER_KEY_FILE or ACE_KEK_URL", err)
	}
	if err != nil {
		return err
	}
	if s.cfg.KEKOldURL != "" {
		if o.Old, err = kek.Open(s.cfg.KEKOldURL,
			s.kekOptions("ACE_KEK_OLD_URL", s.cfg.KEKOldTokenFile, "ACE_KEK_OLD_TOKEN_FILE", false)); err != nil {
			return err
		}
	}
	if o.Master, err = kek.ReadFile(s.cfg.MasterKeyFile(), false); err != nil && !errors.Is(err, kek.ErrNoKey) {
		return err
	}
	if s.vault, err = vaultstore.Open(ctx, s.db, o); err != nil {
		return err
	}
	s.sealer = s.vault.Sealer()
	return nil
}

func (s *Server) kekOptions(setting, tokenFile, tokenName string, create bool) *kek.Options {
	return &kek.Options{
		File: s.cfg.MasterKeyFile(), Setting: setting, TokenFile: tokenFile, TokenName: tokenName, Create: create,
		// A guard of its own: this origin, in any network, and no other.
		Client: func(origin *url.URL) *http.Client {
			purpose := trusting(egress.KMS(origin.Hostname()), origin.String())
			return egress.New(&egress.Options{OnlyTrusted: true}).Client(purpose)
		},
	}
}

// jobVault continues rotations.
const jobVault = "vault"

const (
	vaultLooks = time.Minute      // between two looks
	vaultSoon  = 2 * time.Second  // while there is something to do
	vaultWorks = 20 * time.Second // of a job, well below its deadline
)

// vaultJob re-encrypts what older keys have sealed, one replica at a time.
func (s *Server) vaultJob() jobs.Handler {
	return jobs.Handler{
		Backoff: []time.Duration{vaultSoon, 10 * time.Second, vaultLooks},
		Run: func(ctx context.Context, _ jobs.Job) error {
			p, err := s.vault.Work(ctx, vaultWorks)
			if err != nil {
				return err
			}
			if p.Resealed > 0 || p.Unreadable > 0 {
				s.log.InfoContext(ctx, "secrets re-encrypted", slog.Int("values", p.Resealed),
					slog.Int("unreadable", p.Unreadable))
			}
			if p.Done {
				return jobs.Later(time.Now().Add(vaultLooks))
			}
			return jobs.Later(time.Now().Add(vaultSoon))
		},
	}
}

// VaultStatus is the vault as operators see it.
type VaultStatus = vaultstore.Status

// VaultProgress is what one step of a rotation has done, and the state of the vault.
type VaultProgress struct {
	Resealed   int         `json:"resealed"`
	Unreadable int         `json:"unreadable"`
	Done       bool        `json:"done"`
	Status     VaultStatus `json:"status"`
}

type vaultOut[T any] struct{ Body T }

// vaultControl is the operator's handler about the vault.
//
//	GET  /vault            ace vault status
//	POST /vault/rotate     ace vault rotate, then
//	POST /vault/work       a second of work, over and over
//	POST /vault/rewrap     ace vault rewrap
//	POST /vault/keys/{id}  ace vault enable
func (s *Server) vaultControl() http.Handler {
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "ACE control of the vault", "1", nil)
	vaultOperation(s, api, http.MethodGet, "/vault", "vaultStatus",
		func(context.Context, *struct{}, *VaultProgress) error { return nil })
	vaultOperation(s, api, http.MethodPost, "/vault/rotate", "rotateVault",
		func(ctx context.Context, in *forceInput, _ *VaultProgress) error {
			if err := s.vault.Rotate(ctx, in.Force); err != nil {
				return err
			}
			store := storage.New(s.db, s.lanes)
			return store.Schedule(ctx, jobs.Job{Kind: jobVault, RunAt: time.Now()})
		})
	vaultOperation(s, api, http.MethodPost, "/vault/work", "workVault",
		func(ctx context.Context, _ *struct{}, out *VaultProgress) error {
			p, err := s.vault.Work(ctx, time.Second)
			out.Resealed, out.Unreadable, out.Done = p.Resealed, p.Unreadable, p.Done
			return err
		})
	vaultOperation(s, api, http.MethodPost, "/vault/rewrap", "rewrapVault",
		func(ctx context.Context, _ *struct{}, _ *VaultProgress) error { return s.vault.Rewrap(ctx) })
	vaultOperation(s, api, http.MethodPost, "/vault/keys/{id}", "enableVaultKey",
		func(ctx context.Context, in *keyInput, _ *VaultProgress) error {
			return s.vault.Enable(ctx, in.ID)
		})
	return mux
}

type forceInput struct {
	Force bool `query:"force"`
}

type keyInput struct {
	ID string `path:"id"`
}

// vaultOperation is an operation that does something and returns the state
// after it.
func vaultOperation[I any](s *Server, api *openapi.API, method, path, id string,
	do func(context.Context, *I, *VaultProgress) error,
) {
	openapi.Handle(api, openapi.Operation{Method: method, Path: path, ID: id, Summary: id},
		func(ctx context.Context, in *I) (*vaultOut[VaultProgress], error) {
			out := &vaultOut[VaultProgress]{}
			err := do(ctx, in, &out.Body)
			if err == nil {
				var status *VaultStatus
				if status, err = s.vault.Status(ctx); err == nil {
					out.Body.Status = *status
					return out, nil
				}
			}
			if errors.Is(err, kek.ErrAway) || errors.Is(err, kek.ErrWrong) {
				// holds no secret
				return nil, problem.New(problem.Unavailable, "vault_unavailable",
					"The keys cannot be read or wrapped now: "+err.Error())
			}
			return nil, err
		})
}
