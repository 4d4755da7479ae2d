package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alecthomas/kong"
)

// called is what a command printed and returned.
type called struct {
	code           int
	stdout, stderr string
}

func call(t *testing.T, args ...string) called {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return called{code, stdout.String(), stderr.String()}
}

// TestVersionFlag holds that --version prints what the command version prints.
func TestVersionFlag(t *testing.T) {
	t.Parallel()
	byFlag, byCommand := call(t, "--version"), call(t, "version")
	if byFlag != byCommand || byFlag.code != 0 || !strings.HasPrefix(byFlag.stdout, "ace ") {
		t.Errorf("ace --version = %+v, ace version = %+v", byFlag, byCommand)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{nil, {"key"}, {"key", "create"}, {"tour"}} {
		byFlag, byCommand := call(
			t,
			append(slices.Clone(words), "--help")...), call(
			t,
			append([]string{"help"}, words...)...)
		if byFlag != byCommand || byFlag.code != 0 || !strings.Contains(byFlag.stdout, "Usage: ace") {
			t.Errorf("ace help %v = %+v, with --help %+v", words, byCommand, byFlag)
		}
	}
	if got := call(t, "help", "keys"); got.code != 2 || !strings.Contains(got.stderr, "keys") {
		t.Errorf("ace help keys = %+v", got)
	}
}

func TestFailuresOfJSON(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	tests := []struct {
		name string
		args []string
		exit int
		code string
	}{
		{"a call without sense", []string{"key", "create", "--json"}, 2, "usage"},
		{"no such command", []string{"keys", "--json"}, 2, "usage"},
		{"no store", []string{"key", "list", "--account", "demo", "--data-dir", empty, "--json"}, 1, "failed"},
		{"no wallet", []string{"wallet", "show", "--data-dir", empty, "--json"}, 1, "failed"},
		{"no server", []string{"tour", "--url", "http://127.0.0.1:1", "--data-dir", empty, "--json"}, 1, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := call(t, tt.args...)
			var failure struct {
				Error struct{ Code, Message string } `json:"error"`
			}
			if err := json.Unmarshal(
				[]byte(got.stdout),
				&failure,
			); err != nil || got.code != tt.exit || got.stderr != "" && strings.Contains(got.stderr, "ace:") ||
				failure.Error.Code != tt.code ||
				failure.Error.Message == "" {
				t.Errorf("ace %v = %+v (%v), want %s", tt.args, got, err, tt.code)
			}
		})
	}
}

// TestUnknownVariables changes the environment of the process.
func TestUnknownVariables(t *testing.T) {
	t.Setenv("ACE_STORE_ADRR", "127.0.0.1:1")
	for _, args := range [][]string{{"serve"}, {"wallet", "show"}, {"catalog", "report"}} {
		got := call(t, args...)
		if got.code != 2 || !strings.Contains(got.stderr, "no setting ACE_STORE_ADRR: did you mean ACE_STORE_ADDR?") {
			t.Errorf("ace %v with an unknown variable = %+v", args, got)
		}
	}
	for _, args := range [][]string{{"help"}, {"version"}, {"completion", "bash"}} {
		if got := call(t, args...); got.code != 0 {
			t.Errorf("ace %v with an unknown variable = %+v", args, got)
		}
	}
}

// TestTimesInDays holds that flags and settings take days.
func TestTimesInDays(t *testing.T) {
	t.Parallel()
	var c cli
	w := newWorld(t.Context(), &bytes.Buffer{}, &bytes.Buffer{})
	p, err := parser(&c, w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(
		[]string{"key", "create", "--account", "a", "--expires-in", "30d", "--drain-delay", "1s"},
	); err != nil {
		t.Fatal(err)
	}
	if c.Key.Create.ExpiresIn != 720*time.Hour || c.Key.Create.DrainDelay == nil ||
		*c.Key.Create.DrainDelay != time.Second {
		t.Errorf("--expires-in 30d = %s, --drain-delay 1s = %v", c.Key.Create.ExpiresIn, c.Key.Create.DrainDelay)
	}
	if got := call(t, "key", "create", "--account", "a", "--expires-in", "1y"); got.code != 2 ||
		!strings.Contains(got.stderr, "30d") {
		t.Errorf("--expires-in 1y = %+v", got)
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	var c cli
	p, err := kong.New(&c, kong.Vars{"version": ""}, kong.PostBuild(brief))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		words []string
		want  []string
	}{
		{"the beginning of a command", []string{"ca"}, []string{"catalog"}},
		{"commands of a group", []string{"key", ""}, []string{"create", "list", "revoke"}},
		{"a flag", []string{"key", "create", "--app"}, []string{"--approval", "--apps"}},
		{"a value", []string{"key", "create", "--approval", "d"}, []string{"destructive"}},
		{"a value in one word", []string{"key", "create", "--approval=n"}, []string{"--approval=none"}},
		{"no value is known", []string{"key", "create", "--name", ""}, nil},
		{"after a value", []string{"key", "create", "--name", "x", "--read"}, []string{"--read-only"}},
		{"an argument", []string{"pay", "run_l"}, []string{"run_llms_txt_draft"}},
		{"a flag of all", []string{"key", "list", "--conf"}, []string{"--config"}},
		{"settings of the server are not offered", []string{"key", "list", "--store"}, nil},
		{"hidden commands are not", []string{"completion", "w"}, nil},
	}
	for _, tt := range tests {
		if got := candidates(p.Model.Node, tt.words); !slices.Equal(got, tt.want) {
			t.Errorf("%s: candidates(%q) = %q, want %q", tt.name, tt.words, got, tt.want)
		}
	}
	if all := candidates(p.Model.Node, nil); !slices.Contains(all, "serve") || !slices.Contains(all, "help") {
		t.Errorf("candidates() = %q", all)
	}
}

// TestProgress holds that no command is silent for more than a second, and that
// one which prints is not disturbed.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		w := newWorld(t.Context(), &stdout, &stderr)
		stop := w.watch()
		time.Sleep(900 * time.Millisecond)
		_, _ = w.stdout.Write([]byte("step\n"))
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		w.stderr.screen.mu.Lock() // the watcher goes on
		early := stderr.String()
		w.stderr.screen.mu.Unlock()
		if early != "" {
			t.Errorf("a command that prints was disturbed: %q", early)
		}
		time.Sleep(35 * time.Second)
		synctest.Wait()
		stop()
		if lines := strings.Count(stderr.String(), "still working, "); lines != 3 {
			t.Errorf("after 35 s of silence: %q", stderr.String())
		}
		if stdout.String() != "step\n" {
			t.Errorf("progress went to the output: %q", stdout.String())
		}
	})
}

// TestColours holds that only a terminal gets colours.
func TestColours(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal can be made here:", err)
	}
	defer func() { _ = screen.Close() }()
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	w := newWorld(t.Context(), screen, file)
	if got := w.stdout.red("no"); got != "\x1b[1;31mno\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := w.stderr.red("no"); got != "no" {
		t.Errorf("in a file: %q", got)
	}
	t.Setenv("NO_COLOR", "1")
	if got := newWorld(t.Context(), screen, file).stdout.bold("no"); got != "no" {
		t.Errorf("with NO_COLOR: %q", got)
	}
}
