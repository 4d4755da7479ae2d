// Package browsertest drives Chromium in tests, the way a person would: it
// opens pages, fills in fields and presses buttons.
//
//	b := browsertest.Start(t)                   one browser for all subtests
//	tab := b.Tab(t, browsertest.Phone())        a tab with cookies of its own
//	tab.Open(url); tab.Fill("#email", "…"); tab.Press("button")
//
// ACE_CHROMIUM names the browser. Without one a test is skipped, except where
// CI is set; -short skips it, too. With ACE_SHOTS=folder, Shot keeps pictures there.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// patience is how long one step may take on a busy machine, before a test gives up.
const patience = 2 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in its context
}

// path finds the browser, or returns empty.
func path() string {
	if p := os.Getenv("ACE_CHROMIUM"); p != "" {
		return p
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// Start starts a browser that ends with the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("left out: -short runs no browser")
	}
	binary := path()
	if binary == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium was found; install it, or name it in ACE_CHROMIUM")
		}
		t.Skip("left out: no Chromium was found; install it, or name it in ACE_CHROMIUM")
	}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(binary), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		// A page that comes back out of the cache fires no load event to wait for.
		chromedp.Flag("disable-features", "BackForwardCache,Translate,MediaRouter"),
	))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", binary, err)
	}
	return &Browser{ctx: ctx}
}

// Options describes the person's screen and habits; the zero value is a
// desktop of 1440 by 900 pixels in light colors with scripts on.
type Options struct {
	Width, Height int64
	Mobile        bool
	Dark          bool
	NoScript      bool
	// AnyCertificate opens pages of servers whose certificate the test made.
	AnyCertificate bool
}

// Phone is a narrow screen with touch.
func Phone() Options { return Options{Width: 360, Height: 740, Mobile: true} }

// Tab is one tab with cookies of its own. Its methods end the test when a step
// fails.
type Tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in its context
}

// Tab opens a tab that closes with the test.
func (b *Browser) Tab(t *testing.T, opts Options) *Tab {
	t.Helper()
	if opts.Width == 0 {
		opts.Width, opts.Height = 1440, 900
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab := &Tab{t: t, ctx: ctx}
	scheme := "light"
	if opts.Dark {
		scheme = "dark"
	}
	var viewport []chromedp.EmulateViewportOption
	if opts.Mobile {
		viewport = append(viewport, chromedp.EmulateMobile)
	}
	if err := chromedp.Do(ctx); err != nil { // opens the tab; a deadline here would end the browser
		t.Fatalf("opening a tab: %v", err)
	}
	tab.do("setting the screen", chromedp.EmulateViewport(opts.Width, opts.Height, viewport...),
		send(emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}))
	if opts.AnyCertificate {
		tab.do("taking any certificate",
			send(security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}))
	}
	if opts.NoScript {
		tab.do("switching scripts off",
			send(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	}
	return tab
}

// send makes an action of one command.
func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, command, params)
		return chromedp.Void{}, err
	}
}

func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}

func ask[T any](tab *Tab, what string, action chromedp.Action[T]) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	return v
}

// load runs steps that lead to another page and returns its HTTP status.
func (tab *Tab) load(what string, steps ...chromedp.Action[chromedp.Void]) int {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	resp, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
	if resp == nil {
		return 0
	}
	return int(resp.Status)
}

// Open goes to an address and returns the HTTP status.
func (tab *Tab) Open(address string) int {
	tab.t.Helper()
	return tab.load("opening "+address, chromedp.Navigate(address))
}

// Fill types a value into the field that the CSS selector finds.
func (tab *Tab) Fill(field, value string) {
	tab.t.Helper()
	tab.do("filling in "+field, chromedp.Clear(chromedp.CSS(field)), chromedp.SendKeys(chromedp.CSS(field), value))
}

// Choose picks the option of a select by its value.
func (tab *Tab) Choose(field, value string) {
	tab.t.Helper()
	tab.do("choosing in "+field, chromedp.SetValue(chromedp.CSS(field), value))
}

// Click clicks without waiting for another page.
func (tab *Tab) Click(element string) {
	tab.t.Helper()
	tab.do("clicking "+element, chromedp.Click(chromedp.CSS(element)))
}

// Press clicks what leads to another page and returns its HTTP status.
func (tab *Tab) Press(element string) int {
	tab.t.Helper()
	return tab.load("pressing "+element, chromedp.Click(chromedp.CSS(element)))
}

// Back goes back in the history.
func (tab *Tab) Back() {
	tab.t.Helper()
	tab.do("going back", chromedp.NavigateBack())
}

// Text returns the visible text of an element. A page whose answer isolates it
// from the one before is swapped in after it has loaded: what was being read is
// then gone and is read again.
func (tab *Tab) Text(element string) string {
	tab.t.Helper()
	return ask(tab, "reading "+element, func(ctx context.Context, target *chromedp.Target) (string, error) {
		for {
			text, err := chromedp.Text(chromedp.CSS(element))(ctx, target)
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "No node with given id") {
				return text, err
			}
		}
	})
}

// Value returns what a field holds.
func (tab *Tab) Value(field string) string {
	tab.t.Helper()
	return ask(tab, "reading "+field, chromedp.Value(chromedp.CSS(field)))
}

// Visible reports whether the selector finds something that is shown.
func (tab *Tab) Visible(element string) bool {
	tab.t.Helper()
	return Eval[bool](tab,
		`[...document.querySelectorAll(`+quote(element)+`)].some(e => e.getClientRects().length > 0)`)
}

// URL returns the address of the page.
func (tab *Tab) URL() string {
	tab.t.Helper()
	return ask(tab, "reading the address", chromedp.Location())
}

// See fails unless the page shows the text.
func (tab *Tab) See(text string) {
	tab.t.Helper()
	if body := tab.Text("body"); !strings.Contains(body, text) {
		tab.t.Fatalf("the page at %s does not show %q:\n%s", tab.URL(), text, body)
	}
}

// Eval returns the value of an expression in the page; of a promise, what it
// resolves with.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return ask(tab, "evaluating", chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Shot keeps a picture of the whole page as name.png in the folder ACE_SHOTS.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	folder := os.Getenv("ACE_SHOTS")
	if folder == "" {
		return
	}
	picture := ask(tab, "taking a picture", chromedp.FullScreenshot(100))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		tab.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}

// quote makes a JavaScript string.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// DoublePress clicks twice at once, as hasty people do, and waits for where
// that leads.
func (tab *Tab) DoublePress(element string) int {
	tab.t.Helper()
	return tab.load("pressing "+element+" twice", chromedp.DoubleClick(chromedp.CSS(element)))
}
