package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime returns the processor time that this process and all processes
// of PostgreSQL on this machine that it started have used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		b.Fatal(err)
	}
	spent := time.Duration(self.Utime.Nano() + self.Stime.Nano())
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	parents, times := map[int]int{}, map[int]time.Duration{}
	for _, name := range stats {
		if pid, parent, used, ok := readStat(name); ok {
			parents[pid], times[pid] = parent, used
		}
	}
	for pid, used := range times {
		for up := pid; up > 1; up = parents[up] {
			if parents[up] == os.Getpid() {
				spent += used
				break
			}
		}
	}
	return spent
}

// readStat reads proc(5): the processor time of a process and of its children
// that have ended.
func readStat(name string) (pid, parent int, used time.Duration, ok bool) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, 0, false // it has ended
	}
	head, rest, found := strings.Cut(string(data), " (")
	end := strings.LastIndex(rest, ") ")
	if !found || end < 0 {
		return 0, 0, 0, false
	}
	fields := strings.Fields(rest[end+2:]) // from state, field 3
	if len(fields) < 15 {
		return 0, 0, 0, false
	}
	pid, _ = strconv.Atoi(head)
	parent, _ = strconv.Atoi(fields[1])
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime in ticks of 10 ms
		ticks, _ := strconv.ParseInt(field, 10, 64)
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return pid, parent, used, true
}
