package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// terminal is an output that a person may look at.
type terminal struct {
	out    io.Writer
	screen *screen
	styled bool // colours are shown
}

// screen is what both outputs of a command share.
type screen struct {
	err      io.Writer // where progress is shown
	mu       sync.Mutex
	quiet    time.Time // since when nothing was printed
	progress bool      // the cursor is behind a line of progress
}

func newWorld(ctx context.Context, stdout, stderr io.Writer) *world {
	s := &screen{err: stderr, quiet: time.Now()}
	return &world{
		ctx, &terminal{stdout, s, onScreen(stdout) && colourful()},
		&terminal{stderr, s, onScreen(stderr) && colourful()},
	}
}

// onScreen reports whether a person sees what is written to out.
func onScreen(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// colourful reports whether the person and the terminal want colours
// (no-color.org).
func colourful() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

const eraseLine = "\r\x1b[K"

// Write writes text in the place of the line of progress, if there is one.
func (t *terminal) Write(text []byte) (int, error) {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	if t.screen.progress {
		_, _ = io.WriteString(t.screen.err, eraseLine)
		t.screen.progress = false
	}
	t.screen.quiet = time.Now()
	return t.out.Write(text)
}

func (t *terminal) bold(text string) string  { return t.style("1", text) }
func (t *terminal) red(text string) string   { return t.style("1;31", text) }
func (t *terminal) green(text string) string { return t.style("32", text) }

func (t *terminal) style(code, text string) string {
	if !t.styled {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

const (
	// silence is how long a command prints nothing before it says on a terminal that
	// it works.
	silence = time.Second
	// repeat is how often it says so where lines stay: in a file, a log.
	repeat = 10 * time.Second
)

// watch says on the error output that a command still works, once it has printed
// nothing for a second (ten, where that is no terminal). The function that it
// returns ends that.
func (w *world) watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	live := onScreen(w.stderr.out)
	go func() {
		defer close(ended)
		began, said := time.Now(), time.Time{}
		tick := time.NewTicker(silence / 4)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				if w.stderr.working(now, began, said, live) {
					said = now
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		_, _ = w.stderr.Write(nil) // takes the line of progress away
	}
}

// working prints how long a command has worked, if it is time to. said is when it
// last did. It reports whether it printed.
func (t *terminal) working(now, began, said time.Time, live bool) bool {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	wait := silence
	if !live {
		wait = repeat
	}
	if now.Sub(t.screen.quiet) < wait {
		return false
	}
	line := fmt.Sprintf("… still working, %s", now.Sub(began).Truncate(time.Second))
	if live {
		_, _ = io.WriteString(t.out, eraseLine+line)
		t.screen.progress = true
		return true
	}
	if said.After(t.screen.quiet) && now.Sub(said) < repeat {
		return false
	}
	_, _ = fmt.Fprintln(t.out, line)
	return true
}
