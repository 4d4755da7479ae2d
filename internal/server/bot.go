package server

import (
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/storehttp/discovery"
)

// prepareBot makes the store known to others as an agent: it returns the
// directory of its keys, and from now on signedClient signs. The keys are the
// operator's, or own, the one that was created at the first start.
//
// Who verifies a signature looks for the keys at the store's https origin. A
// store without a public one publishes its keys all the same, and signs
// nothing.
func (s *Server) prepareBot(own *httpsig.Signer) (discovery.KeyDirectory, error) {
	if s.cfg.BotSigning == "off" {
		return nil, nil //nolint:nilnil // no directory, no error: signing is off
	}
	keys, err := botKeys(s.cfg.BotKeyFiles, own)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(s.cfg.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("reading the address of the store: %w", err)
	}
	if base.Scheme != "https" || config.Local(s.cfg.BaseURL()) {
		return webbotauth.NewDirectory(authority(base), keys...)
	}
	if s.identity, err = webbotauth.NewIdentity("https://"+base.Host, keys...); err != nil {
		return nil, err
	}
	return s.identity, nil
}

// botKeys returns the keys of the operator, the one that signs first, or else
// the store's own.
func botKeys(files []string, own *httpsig.Signer) ([]webbotauth.OwnKey, error) {
	if len(files) == 0 {
		return []webbotauth.OwnKey{{Signer: own}}, nil
	}
	keys := make([]webbotauth.OwnKey, len(files))
	for i, file := range files {
		signer, err := readKey(file)
		if err != nil {
			return nil, fmt.Errorf("reading ACE_BOT_KEY_FILE %s: %w", file, err)
		}
		keys[i].Signer = signer
	}
	return keys, nil
}

// errKey says how to create a key that fits.
var errKey = errors.New(
	"it holds no Ed25519 key as PKCS #8 in PEM: make one with openssl genpkey -algorithm ed25519 -out FILE")

func readKey(file string) (*httpsig.Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("opening the key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errKey
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errKey
	}
	return httpsig.NewSigner(crypto.Signer(key))
}

// signedClient returns the client of a purpose, each of whose requests carries
// the signature of the store: for what it reads as an agent. It signs nothing
// where the store has no identity.
func (s *Server) signedClient(p egress.Purpose) *http.Client {
	if s.identity != nil {
		p.Sign = s.sign
	}
	return s.guard.Client(p)
}

// sign puts the store's signature on a request.
func (s *Server) sign(r *http.Request) error { return s.identity.Sign(r, time.Now()) }
