package toolindex

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// maxQuery bounds what is read of a task, in characters.
const maxQuery = 2000

// word is a word of a text: how it was written, and its stem.
type word struct {
	written string // lower case
	stem    string
	capital bool // it began with a capital inside a sentence
}

// words splits a text: camelCase, snake_case and digits come apart, accents and
// endings fall away.
func words(text string) []word {
	if len(text) > 4*maxQuery {
		text = text[:4*maxQuery]
	}
	var all []word
	var current []rune
	capital, start := false, true
	flush := func() {
		if len(current) == 0 {
			return
		}
		written := strings.ToLower(string(current))
		all = append(all, word{written, english.Stem(written, true), capital && !start})
		current, start = current[:0], false
	}
	previous := rune(0)
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent that was taken off its letter
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			border := unicode.IsUpper(r) && unicode.IsLower(previous) || unicode.IsDigit(r) != unicode.IsDigit(previous) && previous != 0 && len(current) > 0
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

// stems are the stems of a text.
func stems(text string) []string {
	var all []string
	for _, w := range words(text) {
		all = append(all, w.stem)
	}
	return all
}

// squash is a text without anything between its letters and digits.
func squash(text string) string {
	var b strings.Builder
	for _, w := range words(text) {
		b.WriteString(w.written)
	}
	return b.String()
}

// stopped reports whether a word says nothing about a task.
func stopped(w string) bool {
	switch w {
	case "a", "an", "the", "my", "our", "your", "me", "us", "i", "we", "you", "it", "its", "to", "of", "in", "on", "at", "for", "from", "with", "by", "into", "via", "using", "use", "and", "or",
		"is", "are", "be", "been", "was", "has", "have", "had", "do", "does", "did", "can", "could", "will", "would", "should", "please", "want", "need", "like", "that", "this", "these", "those",
		"there", "what", "which", "who", "how", "when", "where", "some", "any", "all", "about", "as", "so", "if", "then", "them", "they", "their", "one", "give", "let", "lets", "im", "id", "ive":
		return true
	}
	return false
}

// synonyms are groups of words that stand for one another in tasks. A group is
// about things (mail, note) or about doing (send, create).
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

// verbs sorts words of doing into classes.
func verbs() map[string]string {
	classes := map[string][]string{
		"create": {"create", "add", "make", "new", "insert", "open", "draft", "register", "book", "schedule", "invite", "upload", "jot", "file", "put", "start", "begin", "publish", "record", "log", "save", "subscribe", "leave"},
		"read": {
			"list", "show", "get", "see", "read", "find", "search", "look", "fetch", "view", "display", "check", "download", "count", "browse", "export", "lookup",
			"who", "which", "what", "how", "where", "when", "whose", "any", "is", "are", "did", "does", "whats", "wheres", "whos",
		},
		"update": {"update", "change", "edit", "modify", "rename", "set", "move", "assign", "mark", "close", "complete", "archive", "reopen", "label", "tag", "tick", "star", "flag", "fix", "correct", "push", "postpone", "reschedule", "overwrite", "finish", "solve", "merge"},
		"delete": {"delete", "remove", "trash", "erase", "discard", "drop", "cancel", "revoke", "unsubscribe", "throw", "bin", "clear", "empty", "end", "ban"},
		"send":   {"send", "post", "reply", "answer", "forward", "tell", "notify", "respond", "share", "message", "email", "mail", "text", "write", "ring"},
	}
	of := map[string]string{}
	for class, list := range classes {
		for _, w := range list {
			of[w] = class
		}
	}
	return of
}
