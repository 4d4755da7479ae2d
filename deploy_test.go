package ace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ace/internal/config"
)

var setting = regexp.MustCompile(`\bACE_[A-Z0-9_]+\b`)

// TestDeploySettings holds that the files of deploy name only settings that
// there are, and the variables of their own.
func TestDeploySettings(t *testing.T) {
	t.Parallel()
	known := append(config.SecretFiles(), "ACE_STORE_HOST", "ACE_PLATFORM_HOST") // those of .env.example
	for field := range reflect.TypeFor[config.Settings]().Fields() {
		known = append(known, field.Tag.Get("env"))
	}
	named := 0
	for _, pattern := range []string{"deploy/*", "deploy/.env.example", "deploy/*/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			for _, name := range setting.FindAllString(read(t, path), -1) {
				named++
				if !slices.Contains(known, name) {
					t.Errorf("%s sets %s, which is no setting", path, name)
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("%d settings are named in deploy", named)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUnit holds what the unit of systemd promises, and where systemd is
// installed, how exposed systemd finds it: at most 1.5 of 10.
func TestUnit(t *testing.T) {
	t.Parallel()
	const unit = "deploy/systemd/ace.service"
	text := read(t, unit)
	for _, want := range []string{
		"ExecStart=/usr/local/bin/ace serve", "DynamicUser=yes", "ProtectSystem=strict", "CapabilityBoundingSet=\n",
		"NoNewPrivileges=yes", "SystemCallFilter=@system-service", "TimeoutStopSec=60", "LimitNOFILE=65536",
		"LoadCredential=kek:/etc/ace/kek", "ACE_KEK_URL=file://%d/kek",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", unit, want)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=15", unit).
		CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// composition is what TestCompose looks at.
type composition struct {
	Services map[string]struct {
		DependsOn   any               `yaml:"depends_on"`
		Environment map[string]string `yaml:"environment"`
		Secrets     []string          `yaml:"secrets"`
		Volumes     []string          `yaml:"volumes"`
		Networks    []string          `yaml:"networks"`
		Ports       []string          `yaml:"ports"`
		Healthcheck any               `yaml:"healthcheck"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		Grace       string            `yaml:"stop_grace_period"`
	} `yaml:"services"`
	Networks map[string]any `yaml:"networks"`
	Volumes  map[string]any `yaml:"volumes"`
	Secrets  map[string]any `yaml:"secrets"`
}

// TestCompose holds that the composition is whole: whatever a service names is
// there, secrets come as files, and Caddy alone can be reached from outside.
func TestCompose(t *testing.T) {
	t.Parallel()
	var c composition
	if err := yaml.Unmarshal([]byte(read(t, "deploy/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for name, s := range c.Services {
		for _, network := range s.Networks {
			if _, ok := c.Networks[network]; !ok {
				t.Errorf("%s: there is no network %s", name, network)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			_, ok := c.Volumes[source]
			_, err := os.Stat(filepath.Join("deploy", source))
			if !ok && err != nil {
				t.Errorf("%s: there is no volume and no file %s", name, source)
			}
			used[source] = true
		}
		for _, secret := range s.Secrets {
			if _, ok := c.Secrets[secret]; !ok {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
			used[secret] = true
		}
		for key, value := range s.Environment {
			secret, ok := strings.CutPrefix(strings.TrimPrefix(value, "file://"), "/run/secrets/")
			if ok && !slices.Contains(s.Secrets, secret) {
				t.Errorf("%s: %s names the secret %s, which it does not get", name, key, secret)
			}
			if slices.Contains(config.Secrets(), key) && strings.Contains(value, "@") {
				t.Errorf("%s: %s holds a password", name, key)
			}
		}
		if conditions, ok := s.DependsOn.(map[string]any); ok {
			for other := range conditions {
				if c.Services[other].Healthcheck == nil {
					t.Errorf("%s waits until %s is healthy, which has no check", name, other)
				}
			}
		}
		if len(s.Ports) > 0 && name != "caddy" {
			t.Errorf("%s can be reached from outside", name)
		}
	}
	for name := range c.Secrets {
		if !used[name] {
			t.Errorf("no service uses the secret %s", name)
		}
	}
	for name := range c.Volumes {
		if !used[name] {
			t.Errorf("no service uses the volume %s", name)
		}
	}
	ace := c.Services["ace"]
	if !ace.ReadOnly || !slices.Equal(ace.CapDrop, []string{"ALL"}) || ace.Grace != "60s" {
		t.Errorf("the service ace is not closed: %+v", ace)
	}
	for _, name := range []string{"ACE_STORE_HOST", "ACE_PLATFORM_HOST"} {
		if !strings.Contains(read(t, "deploy/Caddyfile"), "{$"+name+"}") ||
			!strings.Contains(read(t, "deploy/.env.example"), name+"=") {
			t.Errorf("Caddyfile and .env.example do not both name %s", name)
		}
	}
}

// TestImage holds that the image has no shell, no root user and one folder that
// is written.
func TestImage(t *testing.T) {
	t.Parallel()
	_, final, ok := strings.Cut(read(t, "deploy/Containerfile"), "\nFROM scratch\n")
	if !ok || strings.Contains(final, "\nFROM") || strings.Contains(final, "\nRUN") {
		t.Error("the image is not made from scratch")
	}
	for _, want := range []string{"USER 65532:65532", "VOLUME /data", "ENTRYPOINT [\"/ace\"]", "ca-certificates.crt"} {
		if !strings.Contains(final, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
}
