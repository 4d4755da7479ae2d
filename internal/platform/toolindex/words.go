package toolindex

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"

	"ace/internal/platform/app"
)

// maxText bounds what is read of a text, in bytes.
const maxText = 8000

// word is a word of a text.
type word struct {
	written string // lower case
	stem    string
	capital bool // it began with a capital inside a sentence
}

// words splits a text and stems its words.
func words(text string) []word {
	all := split(text)
	for i := range all {
		all[i].stem = english.Stem(all[i].written, true)
	}
	return all
}

// split splits a text into words without stems: camelCase, snake_case and digits
// are separated, accents removed.
func split(text string) []word {
	if len(text) > maxText {
		text = text[:maxText]
	}
	var all []word
	var current []rune
	capital, start := false, true
	flush := func() {
		if len(current) == 0 {
			return
		}
		all = append(all, word{written: strings.ToLower(string(current)), capital: capital && !start})
		current, start = current[:0], false
	}
	previous := rune(0)
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent, decomposed from its letter
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			border := unicode.IsUpper(r) && unicode.IsLower(previous) ||
				(unicode.IsDigit(r) != unicode.IsDigit(previous) || asian(r) != asian(previous)) && previous != 0 &&
					len(current) > 0
			if border {
				flush()
			}
			if len(current) == 0 {
				capital = unicode.IsUpper(r)
			}
			current = append(current, r)
		case r == '\'' || r == '’': // don't, today's
		default:
			flush()
			if r == '.' || r == '!' || r == '?' {
				start = true
			}
		}
		previous = r
	}
	flush()
	return all
}

// stemsOf returns the stems of a text.
func stemsOf(text string) []string {
	var all []string
	for _, w := range words(text) {
		all = append(all, w.stem)
	}
	return all
}

// stemmer caches the stems of words while an index is built: texts of tools
// consist of few different words. Its zero value must be made.
type stemmer map[string]string

func (s stemmer) words(text string) []word {
	all := split(text)
	for i := range all {
		w := &all[i]
		stem, known := s[w.written]
		if !known {
			stem = english.Stem(w.written, true)
			s[w.written] = stem
		}
		w.stem = stem
	}
	return all
}

func (s stemmer) of(text string) []string {
	var all []string
	for _, w := range s.words(text) {
		all = append(all, w.stem)
	}
	return all
}

// lexicon is what is known of words.
type lexicon struct {
	foreign *foreign
	similar map[string][]string // synonyms, by stem
	verbs   map[string]class
}

func newLexicon() *lexicon {
	l := &lexicon{similar: map[string][]string{}, verbs: verbs(), foreign: newForeign()}
	stems := stemmer{}
	for _, group := range synonyms() {
		for _, a := range group {
			for _, b := range group {
				if a != b {
					stem := stems.of(a)[0]
					l.similar[stem] = append(l.similar[stem], stems.of(b)[0])
				}
			}
		}
	}
	return l
}

// class is a kind of verb.
type class uint8

const (
	classNone class = iota
	classCreate
	classRead
	classUpdate
	classDelete
	classSend
)

// classOf returns what a tool does: by its name, else by its effect.
func (l *lexicon) classOf(t *app.Tool) class {
	if c := l.taskClass(split(t.Name)); c != classNone {
		return c
	}
	switch t.Effect {
	case app.Reads:
		return classRead
	case app.Destroys:
		return classDelete
	}
	return classUpdate
}

// taskClass returns the class of the first verb of a task.
func (l *lexicon) taskClass(task []word) class {
	for _, w := range task {
		if c, found := l.verbs[w.written]; found {
			return c
		}
	}
	return classNone
}

// stopped reports whether a word says nothing about a task: a stop word.
func stopped(w string) bool {
	switch w {
	case "a", "an", "the", "my", "our", "your", "me", "us", "i", "we", "you", "it", "its", "to", "of", "in", "on",
		"at", "for", "from", "with", "by", "into", "via", "using", "use", "and", "or",
		"is", "are", "be", "been", "was", "has", "have", "had", "do", "does", "did", "can", "could", "will", "would",
		"should", "please", "want", "need", "like", "that", "this", "these", "those",
		"there", "what", "which", "who", "how", "when", "where", "some", "any", "all", "about", "as", "so", "if",
		"then", "them", "they", "their", "one", "give", "let", "lets", "im", "id", "ive":
		return true
	}
	return false
}

// synonyms returns groups of words that mean the same in tasks: nouns (mail, note)
// or verbs (send, create).
func synonyms() [][]string {
	return [][]string{
		{"email", "mail", "message"},
		{"message", "dm", "text", "chat", "post"},
		{"send", "write", "post", "deliver"},
		{"reply", "answer", "respond"},
		{"create", "add", "make", "new", "open", "insert", "write", "set", "start"},
		{"delete", "remove", "trash", "erase", "discard", "drop", "throw"},
		{"update", "change", "edit", "modify", "rename", "set", "adjust"},
		{"list", "show", "get", "see", "display", "view", "browse", "read"},
		{"find", "search", "look", "lookup", "query", "locate"},
		{"get", "read", "fetch", "retrieve", "load", "download"},
		{"repo", "repository", "project"},
		{"issue", "ticket", "bug", "task"},
		{"task", "todo", "reminder"},
		{"pull", "merge", "pr"},
		{"meeting", "event", "appointment", "calendar", "invite"},
		{"file", "document", "doc", "attachment"},
		{"folder", "directory"},
		{"sheet", "spreadsheet", "table"},
		{"row", "record", "entry", "line"},
		{"channel", "room", "conversation"},
		{"user", "member", "person", "people", "contact"},
		{"customer", "client", "contact", "buyer"},
		{"company", "organization", "account", "business"},
		{"deal", "opportunity"},
		{"lead", "prospect"},
		{"invoice", "bill"},
		{"refund", "money", "back", "return"},
		{"payment", "charge", "pay"},
		{"balance", "money", "fund"},
		{"product", "item", "goods"},
		{"order", "purchase"},
		{"subscription", "plan"},
		{"comment", "remark", "note"},
		{"note", "memo", "page"},
		{"label", "tag", "category"},
		{"close", "finish", "complete", "resolve", "done"},
		{"assign", "give", "delegate"},
		{"upload", "attach", "put"},
		{"share", "grant", "permission"},
		{"invite", "add"},
		{"move", "transfer"},
		{"copy", "duplicate", "clone"},
		{"status", "state", "progress"},
		{"video", "recording"},
		{"photo", "picture", "image"},
		{"subscriber", "audience", "member"},
		{"campaign", "newsletter"},
		{"form", "survey"},
		{"response", "answer", "submission"},
		{"bin", "trash", "delete"},
		{"tick", "complete", "finish"},
		{"reschedule", "postpone", "push", "move", "update"},
		{"decline", "refuse", "reject"},
		{"accept", "confirm", "approve"},
		{"attend", "attendee", "participant", "guest", "invitee"},
		{"ring", "call", "phone"},
		{"paragraph", "text", "block"},
		{"stock", "inventory"},
		{"shop", "store"},
		{"wiki", "documentation"},
		{"pipeline", "build", "workflow"},
		{"unsubscribe", "remove", "opt"},
		{"subscribe", "subscriber", "member"},
		{"arrive", "deliver", "receive"},
		{"star", "flag", "label", "favorite"},
		{"remind", "reminder", "task"},
		{"correct", "fix", "edit"},
		{"newest", "latest", "recent", "last"},
		{"address", "email"},
		{"number", "phone"},
		{"sms", "message"},
		{"busy", "free", "available"},
		{"poll", "vote", "survey"},
		{"empty", "clear"},
		{"overwrite", "replace", "write"},
		{"schedule", "plan", "book"},
		{"cancel", "abort", "stop"},
		{"board", "kanban"},
		{"card", "task"},
		{"branch", "commit"},
		{"call", "phone"},
		{"sms", "text"},
	}
}

// verbs returns the classes of verbs.
func verbs() map[string]class {
	classes := map[class][]string{
		classCreate: {
			"create", "add", "make", "new", "insert", "open", "draft", "register", "book", "schedule", "invite",
			"upload", "jot", "file", "put", "start", "begin", "publish", "record", "log", "save", "subscribe", "leave",
		},
		classRead: {
			"list", "show", "get", "see", "read", "find", "search", "look", "fetch", "view", "display", "check",
			"download", "count", "browse", "export", "lookup",
			"who", "which", "what", "how", "where", "when", "whose", "any", "is", "are", "did", "does", "whats",
			"wheres", "whos",
		},
		classUpdate: {
			"update", "change", "edit", "modify", "rename", "set", "move", "assign", "mark", "close", "complete",
			"archive", "reopen", "label", "tag", "tick", "star", "flag", "fix", "correct", "push", "postpone",
			"reschedule", "overwrite", "finish", "solve", "merge",
		},
		classDelete: {
			"delete", "remove", "trash", "erase", "discard", "drop", "cancel", "revoke", "unsubscribe", "throw",
			"bin", "clear", "empty", "end", "ban",
		},
		classSend: {
			"send", "post", "reply", "answer", "forward", "tell", "notify", "respond", "share", "message",
			"email", "mail", "text", "write", "ring",
		},
	}
	of := map[string]class{}
	for c, list := range classes {
		for _, w := range list {
			of[w] = c
		}
	}
	return of
}
