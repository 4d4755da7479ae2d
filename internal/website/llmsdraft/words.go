package llmsdraft

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/website/naming"

	"ace/internal/protocol/llmstxt"
)

func itoa(n int) string { return strconv.Itoa(n) }

// clean takes out what people do not see, and squeezes white space.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

var tags = regexp.MustCompile(`(?is)<script\b.*?(</script\s*>|$)|<[!/?a-zA-Z][^<>]*>`)

// plain is clean text that means nothing in Markdown: no tags, no brackets, no
// code, nothing that begins a line of another kind. Text whose charset was
// wrong is no text.
func plain(s string) string {
	if garbled(s) {
		return ""
	}
	s = clean(tags.ReplaceAllString(s, " "))
	s = strings.Map(func(r rune) rune {
		switch r {
		case '[':
			return '('
		case ']':
			return ')'
		case '`':
			return '\''
		case '<':
			return '‹'
		case '>':
			return '›'
		case '|':
			return '–'
		case '\\':
			return '/'
		}
		return r
	}, s)
	s = strings.TrimLeft(s, "#>-*+=~!– ")
	if r := []rune(s); len(r) > 2000 {
		s = string(r[:2000])
	}
	return strings.TrimSpace(s)
}

// twice are letters of UTF-8 that were read as Windows-1252.
var twice = regexp.MustCompile(`Ã[©¨¤¶¼¯ª«±§¡³ ]|â‚¬|â€[™œ“”]`)

// garbled reports whether a text was read in a wrong charset.
func garbled(s string) bool { return strings.ContainsRune(s, utf8.RuneError) || twice.MatchString(s) }

// vague reports whether the text of a link says nothing about its page.
func vague(text string) bool {
	switch strings.ToLower(strings.Trim(text, " .…»›>→")) {
	case "", "click here", "here", "more", "read more", "learn more", "details", "link", "this page", "see more",
		"view", "show", "go", "next", "previous", "back", "mehr", "hier", "weiterlesen", "continue reading":
		return true
	}
	return strings.IndexFunc(text, unicode.IsLetter) < 0 || utf8.RuneCountInString(text) > 80 ||
		strings.Contains(text, "://") ||
		givesOrders(text)
}

// sentences cuts a text after a sentence so that it has at most limit
// characters, or after a word if the first sentence is longer.
func sentences(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	word := 0
	for i := limit - 1; i > 0; i-- {
		if word == 0 && runes[i] == ' ' {
			word = i
		}
		ends := strings.ContainsRune(".!?。！？", runes[i])
		if ends && i >= 20 && (i+1 >= len(runes) || runes[i+1] == ' ' || runes[i] > 0x2000) &&
			!abbreviation(runes[:i]) {
			return string(runes[:i+1])
		}
	}
	if word == 0 {
		word = limit - 1
	}
	return strings.TrimRight(string(runes[:word]), " ,;:–-") + "…"
}

// abbreviation reports whether the full stop after a text ends no sentence.
func abbreviation(before []rune) bool {
	i := len(before)
	for i > 0 && unicode.IsLetter(before[i-1]) {
		i--
	}
	switch word := strings.ToLower(string(before[i:])); word {
	case "e", "g", "i", "z", "b", "etc", "st", "dr", "mr", "mrs", "ms", "no", "nr", "vs", "ca", "approx":
		return true
	}
	return false
}

// nameAll names the pages of the draft: heading, title without the site's name,
// text of a link, or the address. No two names are equal.
func (w *work) nameAll(chosen []*page) {
	used := map[string]int{}
	for _, p := range chosen {
		p.name = w.names(p)[0]
		used[p.name]++
	}
	taken := map[string]bool{}
	for _, p := range chosen {
		if used[p.name] > 1 {
			for _, name := range w.names(p)[1:] {
				if used[name] == 0 && !taken[name] {
					p.name = name
					break
				}
			}
		}
		if taken[p.name] {
			p.name += " (" + strings.Trim(strings.TrimPrefix(p.url.Path, w.folder), "/") + ")"
		}
		taken[p.name] = true
	}
}

// describe lets the rules of naming decide what the pages are called.
func (w *work) describe() {
	read := []*page{w.home}
	for _, p := range w.pages {
		if p.read && p != w.home && p.reason == "" {
			read = append(read, p)
		}
	}
	pages := make([]naming.Page, len(read))
	for i, p := range read {
		pages[i] = naming.Page{Root: p.doc.Root, URL: p.url, Home: p == w.home}
	}
	site := naming.Read(pages, "")
	w.called, w.slogan = plain(site.Name), plain(site.Description)
	for i, p := range read {
		d := site.Of(i)
		p.called, p.opening, p.description = plain(d.Name), plain(d.Opening), plain(d.Description)
		if d.Placeholder != "" {
			w.warn("placeholder", p.url.String(), "The page holds text of a template (“"+plain(d.Placeholder)+
				"”): replace it. The draft does not repeat it.")
		}
		if naming.Placeholder(p.social) {
			p.social = ""
		}
	}
}

// names are the possible names of a page, the best first; at least one.
func (w *work) names(p *page) []string {
	var names []string
	add := func(s string) {
		if n := utf8.RuneCountInString(s); n >= 2 && n <= 90 && !givesOrders(s) && !strings.Contains(s, "://") &&
			!naming.IsHost(s, p.url) && !naming.IsDate(s) {
			names = append(names, s)
		}
	}
	add(p.called)
	add(titled(p.linkText))
	if p == w.home {
		add(w.name)
	}
	add(fromAddress(p.url.Path))
	if len(names) == 0 {
		names = append(names, "Home")
	}
	return names
}

// fromAddress makes words of the last part of a path.
func fromAddress(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last, _, _ := strings.Cut(parts[len(parts)-1], ".")
	return titled(plain(strings.NewReplacer("-", " ", "_", " ", "+", " ").Replace(last)))
}

func titled(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// describeAll writes the notes.
func (w *work) describeAll(chosen []*page) {
	shared := map[string]int{}
	for _, p := range w.pages {
		if p.read {
			shared[p.description]++
			if p.social != p.description {
				shared[p.social]++
			}
		}
	}
	taken := map[string]bool{}
	for _, p := range chosen {
		p.notes, p.notesFrom = "", ""
		for _, source := range []struct{ from, text string }{
			{"meta", p.description},
			{"og", p.social},
			{"text", p.opening},
		} {
			if !p.read || shared[source.text] > 2 {
				continue
			}
			if givesOrders(source.text) {
				w.warn("orders", p.url.String(),
					"A description of the page gives orders to language models; the draft does not repeat it.")
				continue
			}
			notes := cmp.Or(naming.Sentences(source.text, llmstxt.MaxNotes), sentences(source.text, llmstxt.MaxNotes))
			if utf8.RuneCountInString(notes) < 15 || strings.EqualFold(strings.Trim(notes, ". "), p.name) ||
				strings.EqualFold(
					notes,
					p.title,
				) || strings.Contains(notes, "://") || naming.IsDate(notes) || taken[strings.ToLower(notes)] {
				continue
			}
			p.notes, p.notesFrom = notes, source.from
			taken[strings.ToLower(notes)] = true
			break
		}
	}
}
