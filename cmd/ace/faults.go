//go:build faults

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// faultStep ends the process, as a power cut would, at the step that
// ACE_FAULT_STEP names: "opened" or "opened#2" for its second time.
func faultStep() func(string) {
	name, nth, _ := strings.Cut(os.Getenv("ACE_FAULT_STEP"), "#")
	at, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		at = 1
	}
	var seen atomic.Int64
	return func(step string) {
		if step == name && seen.Add(1) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal has done its work
		}
	}
}
