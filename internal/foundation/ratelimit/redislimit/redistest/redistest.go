// Package redistest runs a real Redis for a test: alone, on a free port, with
// nothing kept on disk.
package redistest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a Redis that ends with its test.
type Server struct {
	URL  string // redis://127.0.0.1:port/0
	t    testing.TB
	port string
	cmd  *exec.Cmd
}

// Start runs redis-server. Without one installed the test is left out, except
// where CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed")
		}
		t.Skip("left out: redis-server is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "redis://127.0.0.1:" + port + "/0", t: t, port: port}
	t.Cleanup(s.Kill)
	s.Run()
	return s
}

// Run starts the server again after Kill, empty, and waits until it responds.
func (s *Server) Run() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.t.TempDir())
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for range 200 {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+s.port); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.t.Fatal("redis-server does not answer")
}

// Kill ends the server at once, as a crash does. Connections are refused then.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Freeze stops the server without closing anything: connections stay and
// nothing responds. Thaw resumes it.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw is the end of Freeze.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) end(sig syscall.Signal) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(sig) // it may have ended by itself
	_ = s.cmd.Wait()
	s.cmd = nil
}
