package sdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythons returns the interpreters of this machine from 3.8 on, by version.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	candidates, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".pyenv/versions/3.*/bin/python"))
	for _, name := range []string{"3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3"} {
		if path, err := exec.LookPath("python" + name); err == nil {
			candidates = append(candidates, path)
		}
	}
	for _, path := range candidates {
		out, err := exec.Command(path, "-c",
			"import sys; assert sys.version_info >= (3, 8); print('%d.%d' % sys.version_info[:2])").Output()
		if version := strings.TrimSpace(string(out)); err == nil && found[version] == "" {
			found[version] = path
		}
	}
	if len(found) == 0 {
		t.Skip("left out: there is no Python 3.8 or newer")
	}
	return found
}

// TestPythons runs the tests of the Python client on every interpreter that is
// installed; warnings are errors.
func TestPythons(t *testing.T) {
	t.Parallel()
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			env := []string{"PYTHONDONTWRITEBYTECODE=1"}
			said := output(
				t,
				"../../sdk/python",
				env,
				python,
				"-W",
				"error",
				"-m",
				"unittest",
				"discover",
				"-s",
				"tests",
			)
			if !strings.Contains(said, "\nOK") {
				t.Errorf("it says:\n%s", said)
			}
		})
	}
}

// TestTypesOfPython has two type checkers read the client and a program that
// uses it.
func TestTypesOfPython(t *testing.T) {
	t.Parallel()
	source := absolute(t, "../../sdk/python")
	use := absolute(t, "testdata/use.py")
	t.Run("mypy", func(t *testing.T) {
		t.Parallel()
		python := os.Getenv("ACE_SDK_PYTHON")
		if python == "" {
			t.Skip("left out: ACE_SDK_PYTHON is not set")
		}
		said := output(t, t.TempDir(), []string{"MYPYPATH=" + source}, python,
			"-m", "mypy", "--strict", "--cache-dir", t.TempDir(), filepath.Join(source, "ace"), use)
		if !strings.Contains(said, "no issues found") {
			t.Error(said)
		}
	})
	t.Run("pyright", func(t *testing.T) {
		t.Parallel()
		node := os.Getenv("ACE_NODE")
		if node == "" {
			t.Skip("left out: ACE_NODE is not set")
		}
		dir := t.TempDir()
		settings := `{"strict": ["` + use + `"], "include": ["` + source + `/ace", "` + use + `"], "extraPaths": ["` +
			source + `"], "pythonVersion": "3.9"}`
		if err := os.WriteFile(filepath.Join(dir, "pyrightconfig.json"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		said := output(t, dir, nil, node, filepath.Join(modules(t), "pyright/index.js"), "-p", dir)
		if !strings.Contains(said, "0 errors") {
			t.Error(said)
		}
	})
}

// newest returns the newest interpreter.
func newest(t *testing.T) string {
	t.Helper()
	all := pythons(t)
	versions := make([]string, 0, len(all))
	for version := range all {
		if version != "3.8" && version != "3.9" { // which sort behind 3.10
			versions = append(versions, version)
		}
	}
	if len(versions) == 0 {
		t.Skip("left out: there is no Python 3.10 or newer")
	}
	return all[slices.Max(versions)]
}
