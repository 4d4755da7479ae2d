// Package harness runs the real binary in tests: it builds it once, starts it
// on free ports with a folder of its own, and ends it gently or by force.
package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Build builds ace with tags into a folder that the tests of one process
// share, and returns the path of the binary.
func Build(t testing.TB, tags string) string {
	t.Helper()
	path, err := build(tags)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var building sync.Mutex

func build(tags string) (string, error) {
	building.Lock()
	defer building.Unlock()
	// go test runs this process from a folder of its own, which it removes after the
	// run: a binary there is never an older one, and none is left behind.
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("looking for a folder for binaries: %w", err)
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), "ace-"+tags+"-"+fmt.Sprint(os.Getpid()))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", "build", "-tags", tags, "-o", path, "./cmd/ace")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building ace: %w\n%s", err, out)
	}
	return path, nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Process is a running ace.
type Process struct {
	t      testing.TB
	cmd    *exec.Cmd
	ended  chan struct{}
	output *buffer
	stdout *buffer
}

// buffer is safe for concurrent use. It embeds nothing: the methods of a
// bytes.Buffer that io.Copy prefers would pass by the lock.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Start starts the binary with arguments and further variables (NAME=value).
// It is killed when the test ends, if it still runs.
func Start(t testing.TB, binary string, env []string, args ...string) *Process {
	t.Helper()
	p := &Process{
		t: t, cmd: exec.Command(binary, args...), ended: make(chan struct{}), output: &buffer{},
		stdout: &buffer{},
	}
	// The platform listens only where a test names its address.
	p.cmd.Env = append(append(clean(os.Environ()), "ACE_HOSTS=store"), env...)
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(p.output, p.stdout), p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("output of ace %s:\n%s", strings.Join(args, " "), tail(p.output.String(), 20000))
		}
	})
	return p
}

// clean takes settings of the developer's own shell away.
func clean(env []string) []string {
	var environment []string
	for _, v := range env {
		if !strings.HasPrefix(v, "ACE_") {
			environment = append(environment, v)
		}
	}
	return environment
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}

// Stdout returns what the process has printed so far to its standard output: what
// a program reads, without logs, errors and progress.
func (p *Process) Stdout() string { return p.stdout.String() }

// Output returns what the process has printed so far, errors too.
func (p *Process) Output() string { return p.output.String() }

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process at once and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Stop asks the process to end and waits for it.
func (p *Process) Stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(Patience):
		p.dump()
		p.t.Fatalf("ace did not end within %s of SIGTERM", Patience)
	}
}

// Patience is how long a test waits for a process before it gives up. It asserts no
// time: it is far above what a loaded machine needs, and ends a test that would hang.
const Patience = 4 * time.Minute

// dump makes a process that hangs print what each of its goroutines waits for, and
// ends it.
func (p *Process) dump() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.ended:
	case <-time.After(Patience):
		p.Kill()
	}
}

// Ended is closed when the process has ended, for whatever reason.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Code is the exit code of a process that has ended: -1 where it was killed.
func (p *Process) Code() int { return p.cmd.ProcessState.ExitCode() }

// Ready waits until a URL responds, or the process has ended: then it returns false.
func (p *Process) Ready(address string) bool {
	p.t.Helper()
	var last error
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); {
		select {
		case <-p.ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
		res, err := get(p.t.Context(), address)
		if err == nil {
			_ = res.Body.Close()
			return true
		}
		last = err
	}
	p.dump()
	p.t.Fatalf("nothing answers at %s: %v", address, last)
	return false
}

func get(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// ports counts the addresses that this process has assigned.
var ports atomic.Int64

// FreeAddr returns a loopback address that is free, and that nothing will take
// while a process that had it is being started again: it lies below the range
// from which the system picks ports by itself.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 10000 + (int64(os.Getpid())*211+ports.Add(1))%20000
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
	t.Fatal("no port is free")
	return ""
}

// DataDir returns a new folder with a short path: the path of a socket has
// little room.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ace") //nolint:usetesting // the folder of a test has a long path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Call makes a request and returns status and body. header holds name, value,
// name, value, …
func Call(t testing.TB, method, address, body string, header ...string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}
