package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/test/harness"
)

const (
	giteaUser     = "ann"
	giteaPassword = "s3cret-pass-of-ann"
)

// gitea is a running Gitea, an application that nobody here wrote, with one
// person who may do everything.
type gitea struct {
	t           *testing.T
	host        string // with its port, as people type it
	certificate string // file that ACE trusts
	client      *http.Client
	ini         string
}

// startGitea runs Gitea over https, on a free port, with a database of its own.
// Its access tokens live for a few seconds, so that a test sees them renewed.
func startGitea(t *testing.T, lifetime int) *gitea {
	t.Helper()
	program := os.Getenv("ACE_GITEA")
	if program == "" {
		t.Skip("left out: ACE_GITEA is not set (scripts/install-test-needs gitea)")
	}
	dir, addr := harness.DataDir(t), harness.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	g := &gitea{t: t, host: addr, ini: filepath.Join(dir, "app.ini")}
	key := filepath.Join(dir, "key.pem")
	g.certificate = filepath.Join(dir, "cert.pem")
	g.client = &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs:    certify(t, g.certificate, key),
			MinVersion: tls.VersionTLS12,
		}},
	}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`
APP_NAME = Git of Acme
RUN_MODE = prod
RUN_USER = %[1]s
WORK_PATH = %[2]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
PROTOCOL = https
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]s
ROOT_URL = https://%[4]s/
CERT_FILE = %[5]s
KEY_FILE = %[6]s
STATIC_ROOT_PATH = %[7]s
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = %[2]s/gitea.db
[repository]
ROOT = %[2]s/repositories
[security]
INSTALL_LOCK = true
SECRET_KEY = a-secret-key-of-a-test-and-nothing-else
[oauth2]
JWT_SIGNING_ALGORITHM = HS256
ACCESS_TOKEN_EXPIRATION_TIME = %[8]d
INVALIDATE_REFRESH_TOKENS = true
[indexer]
ISSUE_INDEXER_TYPE = db
[session]
PROVIDER = memory
[log]
LEVEL = Warn
[cron]
ENABLED = false
`, who.Username, dir, port, addr, g.certificate, key, filepath.Dir(program), lifetime)
	if err := os.WriteFile(g.ini, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	g.command("migrate")
	g.command("admin", "user", "create", "--admin", "--username", giteaUser, "--password", giteaPassword, "--email",
		"ann@acme.example", "--must-change-password=false")
	g.serve(program)
	return g
}

// command runs a command of the operator's and returns what it printed.
func (g *gitea) command(args ...string) string {
	g.t.Helper()
	out, err := exec.CommandContext(g.t.Context(), os.Getenv("ACE_GITEA"),
		append(args, "--config", g.ini)...).CombinedOutput()
	if err != nil {
		g.t.Fatalf("gitea %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (g *gitea) serve(program string) {
	g.t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(program, "web", "--config", g.ini)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if g.t.Failed() {
			g.t.Logf("output of gitea:\n%s", log.String())
		}
	})
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if res, err := g.client.Get("https://" + g.host + "/api/v1/version"); err == nil {
			_ = res.Body.Close()
			return
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	g.t.Fatalf("gitea does not answer:\n%s", log.String())
}

// api calls Gitea's own API as its person, for what the test needs around the
// walk.
func (g *gitea) api(method, path string, body, into any) int {
	g.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(g.t.Context(), method, "https://"+g.host+path, bytes.NewReader(text))
	if err != nil {
		g.t.Fatal(err)
	}
	req.SetBasicAuth(giteaUser, giteaPassword)
	req.Header.Set("Content-Type", "application/json")
	res, err := g.client.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			g.t.Fatalf("%s %s = %d, %v", method, path, res.StatusCode, err)
		}
	}
	return res.StatusCode
}

// token makes an access token on the command line.
func (g *gitea) token(name string) string {
	g.t.Helper()
	lines := strings.Fields(g.command("admin", "user", "generate-access-token", "--username", giteaUser, "--token-name",
		name, "--scopes", "all", "--raw"))
	return lines[len(lines)-1] // behind what it has to say otherwise
}

// application registers an OAuth application.
func (g *gitea) application(redirect string) (id, secret string) {
	g.t.Helper()
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	status := g.api(http.MethodPost, "/api/v1/user/applications/oauth2",
		map[string]any{"name": "ACE", "redirect_uris": []string{redirect}, "confidential_client": true}, &made)
	if status != http.StatusCreated || made.Secret == "" {
		g.t.Fatalf("registering the application = %d", status)
	}
	return made.ID, made.Secret
}

// forget deletes the person's OAuth applications.
func (g *gitea) forget() {
	g.t.Helper()
	var all []struct{ ID int }
	if status := g.api(http.MethodGet, "/api/v1/user/applications/oauth2", nil, &all); status != http.StatusOK ||
		len(all) == 0 {
		g.t.Fatalf("applications = %d %v", status, all)
	}
	for _, one := range all {
		if status := g.api(http.MethodDelete, fmt.Sprintf("/api/v1/user/applications/oauth2/%d", one.ID),
			nil, nil); status != http.StatusNoContent {
			g.t.Fatalf("deleting application %d = %d", one.ID, status)
		}
	}
}

// certify writes a certificate for this machine with its key, and returns who
// trusts it.
func certify(t *testing.T, certificate, key string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a server of a test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, block := range map[string][]byte{
		certificate: text,
		key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}),
	} {
		if err := os.WriteFile(path, block, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}
