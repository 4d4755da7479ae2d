package testsites

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// redirectsSite has a quick first page that links to every kind of redirect.
func redirectsSite(origin string) http.Handler {
	mux := http.NewServeMux()
	targets := map[string]string{
		"/moved": "/target", "/loop-a": "/loop-b", "/loop-b": "/loop-a", "/self": "/self",
		"/elsewhere": "https://elsewhere.example/", "/inwards": "http://169.254.169.254/latest/meta-data/",
		"/loopback": "http://127.0.0.1:1/admin",
		"/decimal":  "http://2130706433/", "/nowhere": "", "/broken": "http://[::1", "/script": "javascript:alert(1)",
		"/ftp":        "ftp://files.example/x",
		"/login-wall": "/login?next=%2F", "/protocol-relative": "//elsewhere.example/path",
	}
	var links strings.Builder
	for _, from := range []string{
		"/moved", "/loop-a", "/self", "/elsewhere", "/inwards", "/loopback", "/decimal", "/nowhere", "/broken",
		"/script", "/ftp", "/login-wall",
		"/protocol-relative", "/chain/3", "/chain/12", "/endless/0", "/refresh",
	} {
		fmt.Fprintf(&links, "<p><a href=\"%s\">Redirect %s</a></p>\n", from, strings.Trim(from, "/"))
	}
	for from, to := range targets {
		mux.HandleFunc("GET "+from, func(w http.ResponseWriter, _ *http.Request) {
			if to != "" {
				w.Header().Set("Location", to)
			}
			w.WriteHeader(http.StatusFound)
		})
	}
	mux.HandleFunc("GET /{$}",
		func(w http.ResponseWriter, _ *http.Request) { page(w, "A site of redirects", links.String()) })
	mux.HandleFunc("GET /target", func(w http.ResponseWriter, _ *http.Request) {
		page(w, "The target of redirects", "<p>You have arrived at the page that the short redirects lead to.</p>")
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) { page(w, "Sign in", "<form></form>") })
	mux.HandleFunc("GET /chain/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		to := "/target"
		if n > 1 {
			to = "/chain/" + strconv.Itoa(n-1)
		}
		http.Redirect(w, r, origin+to, http.StatusMovedPermanently)
	})
	mux.HandleFunc("GET /endless/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		http.Redirect(w, r, "/endless/"+strconv.Itoa(n+1), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET /refresh", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Refresh", "0; url=/target")
		page(w, "One moment", `<meta http-equiv="refresh" content="0; url=/target">`)
	})
	return mux
}

func loopSite(string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
	})
}

func downSite(string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "The database is unavailable.", http.StatusServiceUnavailable)
	})
}

func challengeSite(string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cf-Mitigated", "challenge")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(
			w,
			`<!doctype html><title>Just a moment...</title><h1>Checking whether you are human</h1>`+
				`<div class="g-recaptcha"></div>`,
		)
	})
}

// slowSite is quick at / and /quick. /drip sends a byte every 300 ms without
// end, /late waits a minute before its header, /stall stops in the middle, and
// /pause takes 1.5 s.
func slowSite(string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		page(
			w,
			"A slow site",
			`<p>This first page is quick.</p><p><a href="/drip">Drip</a> <a href="/late">Late</a> <a `+
				`href="/stall">Stall</a> <a href="/pause">Pause</a> <a href="/quick">Quick</a></p>`,
		)
	})
	mux.HandleFunc("GET /quick",
		func(w http.ResponseWriter, _ *http.Request) { page(w, "Quick", "<p>This page is quick as well.</p>") })
	mux.HandleFunc("GET /pause", func(w http.ResponseWriter, r *http.Request) {
		wait(r, 1500*time.Millisecond)
		page(w, "Pause", "<p>This page took a second and a half.</p>")
	})
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) {
		if wait(r, time.Minute) {
			page(w, "Late", "<p>This page took a minute.</p>")
		}
	})
	mux.HandleFunc("GET /drip", drip)
	mux.HandleFunc("GET /stall", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", "5000")
		_, _ = io.WriteString(w, "<!doctype html><title>Stall</title><h1>Stall</h1><p>The rest of this page")
		flush(w)
		wait(r, time.Hour)
	})
	return mux
}

func stalledSite(string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", drip)
	mux.HandleFunc("GET /robots.txt", http.NotFound)
	mux.HandleFunc("GET /sitemap.xml", http.NotFound)
	return mux
}

func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><title>Drip</title><h1>Drip</h1><p>")
	for {
		if _, err := io.WriteString(w, "."); err != nil {
			return
		}
		flush(w)
		if !wait(r, 300*time.Millisecond) {
			return
		}
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// wait reports whether the caller is still there afterwards.
func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// encodingsSite says "Café crème, naïve, 10 €" in English pages and 日本語 in
// Japanese ones, in bytes that are declared rightly, wrongly or not at all.
func encodingsSite(string) http.Handler {
	const word = "Café crème, naïve, 10 €"
	latin := strings.NewReplacer("é", "\xe9", "è", "\xe8", "ï", "\xef", "€", "\x80")
	text := func(title, declared string) string {
		return "<!doctype html>\n<html lang=\"en\"><head>" + declared + "<title>" + title + " – " + word +
			"</title><meta name=\"description\" content=\"" + title + ": " + word +
			".\"></head><body><main><h1>" + title + "</h1><p>" + word +
			" is what this page says, in an encoding of its own.</p></main></body></html>\n"
	}
	dash := strings.NewReplacer("–", "\x96")
	cp1252 := func(s string) string { return dash.Replace(latin.Replace(s)) }
	pages := []struct{ path, title, contentType, body string }{
		{"/utf8", "Plain UTF-8", "text/html; charset=utf-8", text("Plain UTF-8", "")},
		{"/bom", "UTF-8 with a mark", "text/html", "\ufeff" + text("UTF-8 with a mark", "")},
		{
			"/undeclared", "Windows-1252 without a charset", "text/html",
			cp1252(text("Windows-1252 without a charset", "")),
		},
		{
			"/meta", "Windows-1252 in a meta element", "text/html",
			cp1252(text("Windows-1252 in a meta element", `<meta charset="windows-1252">`)),
		},
		{
			"/wrong-header", "Windows-1252 that claims UTF-8", "text/html; charset=utf-8",
			cp1252(text("Windows-1252 that claims UTF-8", "")),
		},
		{
			"/wrong-meta", "UTF-8 that claims Latin 1", "text/html",
			text("UTF-8 that claims Latin 1", `<meta charset="iso-8859-1">`),
		},
		{
			"/broken", "Broken UTF-8", "text/html; charset=utf-8",
			strings.ReplaceAll(text("Broken UTF-8", ""), "è", "\xc3(\xff\xed\xa0\x80"),
		},
		{"/utf16le", "UTF-16 with a mark", "text/html", utf16Text("\ufeff"+text("UTF-16 with a mark", ""), false)},
		{
			"/utf16be", "UTF-16 in the header", "text/html; charset=utf-16be",
			utf16Text(text("UTF-16 in the header", ""), true),
		},
		{
			"/sjis", "Shift JIS", "text/html; charset=shift_jis",
			"<!doctype html><html " +
				"lang=\"ja\"><title>\x93\xfa\x96\x7b\x8c\xea</title><h1>\x93\xfa\x96\x7b\x8c\xea</h1>" +
				"<p>\x93\xfa\x96\x7b\x8c\xea</p>",
		},
		{
			"/unknown", "A charset that nobody knows", "text/html; charset=klingon-1",
			text("A charset that nobody knows", ""),
		},
		{"/nul", "NUL bytes", "text/html; charset=utf-8", strings.ReplaceAll(text("NUL bytes", ""), " ", " \x00")},
	}
	mux := http.NewServeMux()
	var links strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&links, "<p><a href=\"%s\">%s</a></p>\n", p.path, p.title)
		mux.HandleFunc("GET "+p.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", p.contentType)
			_, _ = io.WriteString(w, p.body)
		})
	}
	mux.HandleFunc("GET /{$}",
		func(w http.ResponseWriter, _ *http.Request) { page(w, "A site of many encodings", links.String()) })
	return mux
}

func utf16Text(s string, bigEndian bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		if bigEndian {
			b.WriteByte(byte(u >> 8))
			b.WriteByte(byte(u))
		} else {
			b.WriteByte(byte(u))
			b.WriteByte(byte(u >> 8))
		}
	}
	return b.String()
}

// bombSite serves a normal first page, compressed, and responses that grow:
// /bomb has 10 MB on the wire and 10 GB decoded, /nested is compressed twice,
// /sitemap.xml.gz is one of the sitemaps that robots.txt names, and /cut stops
// in the middle of its compressed stream.
func bombSite(origin string) http.Handler {
	member := sync.OnceValue(func() []byte { return squeezed(bytes.Repeat([]byte(" "), 1<<20)) })
	send := func(contentType, encoding string, members int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			for range members {
				if _, err := w.Write(member()); err != nil {
					return
				}
			}
		}
	}
	compressed := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(squeezed([]byte(text)))
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}",
		compressed(
			"text/html; charset=utf-8",
			`<!doctype html><html lang="en"><title>A site of bombs</title>`+
				`<meta name="description" content="Small answers that want to be large."><main>`+
				`<h1>A site of bombs</h1><p>This page is honest. <a href="/bomb">Bomb</a> <a `+
				`href="/nested">Nested</a> <a href="/cut">Cut</a> <a href="/lie">Lie</a> <a `+
				`href="/honest">Honest</a></p></main>`,
		))
	mux.HandleFunc("GET /honest",
		compressed("text/html",
			"<!doctype html><title>Honest</title><h1>Honest</h1><p>A compressed page that is what it says.</p>"))
	mux.HandleFunc("GET /robots.txt",
		compressed("text/plain",
			"User-agent: *\nDisallow:\nSitemap: "+origin+"/sitemap.xml.gz\nSitemap: "+origin+"/sitemap.xml\n"))
	mux.HandleFunc("GET /sitemap.xml",
		compressed("application/xml",
			`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>`+origin+
				`/</loc></url><url><loc>`+origin+`/honest</loc></url><url><loc>`+origin+`/bomb</loc></url></urlset>`))
	mux.HandleFunc("GET /sitemap.xml.gz", send("application/gzip", "", 1024))
	mux.HandleFunc("GET /bomb", send("text/html; charset=utf-8", "gzip", 10<<10))
	nested := sync.OnceValue(func() []byte { return squeezed(bytes.Repeat(member(), 64)) })
	mux.HandleFunc("GET /nested", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip, gzip")
		_, _ = w.Write(nested())
	})
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		whole := squeezed([]byte("<!doctype html><title>Cut</title><h1>Cut</h1>" +
			strings.Repeat("<p>Some words that go on.</p>", 400)))
		_, _ = w.Write(whole[:len(whole)/2])
	})
	mux.HandleFunc("GET /lie", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, "<!doctype html><title>Not compressed at all</title>")
	})
	return mux
}

func squeezed(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil { // the level is a constant
		panic(err)
	}
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}
