package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/test/harness"
)

// trusting waits for the process to make its certificate and returns a client
// that trusts it.
func trusting(t *testing.T, dir string, p *harness.Process) *http.Client {
	t.Helper()
	for deadline := time.Now().Add(harness.Patience); !strings.Contains(p.Output(),
		"ACE is running"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the store did not start")
		}
	}
	pem, err := os.ReadFile(filepath.Join(dir, "dev-cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the certificate cannot be read")
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:    roots,
		MinVersion: tls.VersionTLS12,
	}}, Timeout: time.Minute}
}
