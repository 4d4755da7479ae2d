package sqldbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// privateCluster starts one PostgreSQL server for this test process and returns
// its URL. A watcher process holds a pipe from here: when this process ends,
// however it ends, the pipe closes and the watcher stops the server and removes
// its folder.
var privateCluster = sync.OnceValues(func() (string, error) { return startCluster("off") })

var durableCluster = sync.OnceValues(func() (string, error) { return startCluster("on") })

// Cluster starts a private PostgreSQL server from the installed binaries, once
// per process, and returns its address. It ends with this process, however
// that ends. As root, the server runs as the user postgres.
func Cluster() (dsn string, err error) { return privateCluster() }

// DurableCluster is Cluster with a server that flushes each commit to the disk,
// for benchmarks.
func DurableCluster() (dsn string, err error) { return durableCluster() }

func startCluster(fsync string) (string, error) {
	bin, err := serverBinaries()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "ace-postgres-")
	if err != nil {
		return "", fmt.Errorf("making a folder: %w", err)
	}
	attr, err := unprivileged(dir)
	if err != nil {
		return "", err
	}
	data := filepath.Join(dir, "data")
	init := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "ace", "-A", "trust", "-E", "UTF8",
		"--locale=C", "-N")
	init.SysProcAttr, init.Dir = attr, dir
	if out, err := init.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	if err := startWatched(bin, dir, data, port, fsync, attr); err != nil {
		return "", err
	}
	dsn := fmt.Sprintf("postgres://ace@127.0.0.1:%d/postgres?sslmode=disable", port)
	return dsn, waitFor(dsn)
}

// The script runs the server and waits on its input, which this process never
// writes to: reading ends when this process is gone.
const watch = `"$1/postgres" -D "$2" -p "$3" -k "$4" -c listen_addresses=127.0.0.1 -c fsync="$5" -c ` +
	`max_connections=300 >"$4/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT $server
wait $server
rm -rf "$4"`

func startWatched(bin, dir, data string, port int, fsync string, attr *syscall.SysProcAttr) error {
	cmd := exec.Command("/bin/sh", "-c", watch, "sh", bin, data, strconv.Itoa(port), dir, fsync)
	cmd.SysProcAttr, cmd.Dir = attr, dir
	cmd.Stderr = &bytes.Buffer{}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("piping to the server's watcher: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting postgres: %w", err)
	}
	// A collected pipe would be closed by its finalizer, and the server with it.
	go func() { _ = cmd.Wait(); runtime.KeepAlive(stdin) }()
	return nil
}

func serverBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no PostgreSQL server is installed")
	}
	sort.Strings(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged lets the server run as the user postgres where this process is
// root, which the server refuses to be.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true} // an interrupt of the tests must not reach it
	if os.Geteuid() != 0 {
		return attr, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("as root, a user to run the server as: %w", err)
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr, os.Chown(dir, int(uid), int(gid)), os.Chmod(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("giving the folder to the user postgres: %w", err)
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

func waitFor(dsn string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := execStatement(ctx, dsn, "SELECT 1")
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
