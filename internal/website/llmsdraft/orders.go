package llmsdraft

import (
	"regexp"
	"strings"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
)

// order is one way in which pages address language models instead of people.
type order struct {
	words   []string // one of which is there, in lower case
	pattern *regexp.Regexp
}

var orders = []order{
	{
		[]string{"ignore", "disregard", "forget", "override", "bypass"},
		regexp.MustCompile(
			`\b(ignore|disregard|forget|override|bypass)\b.{0,` +
				`40}\b(previous|prior|above|earlier|preceding|all|any|your|these|those)\b.{0,` +
				`40}\b(instructions?|prompts?|rules|guidelines|directions|above|context)\b`,
		),
	},
	{
		[]string{"ignore", "disregard", "forget", "override", "bypass"},
		regexp.MustCompile(
			`\b(ignore|disregard|forget|override|bypass)\b.{0,20}\b(instructions?|prompts?|rules|guidelines)\b.{0,` +
				`20}\b(above|before|earlier)\b|\b(forget|ignore|disregard) (your|all|the above|everything)\b`,
		),
	},
	{
		[]string{" ai ", "artificial intelligence", "language model", " llm"},
		regexp.MustCompile(
			`\b(as|you are|you're) (an? )?(ai|artificial intelligence|language model|large language model|llm)\b`),
	},
	{
		[]string{"ai", "llm", "language model", "assistant", "chatbot"},
		regexp.MustCompile(
			`\b(ai|llm|language model|ai agent|ai assistant|assistant|chatbot)s?[ ,` +
				`:]+(that |who |reading |which )?.{0,30}\b(must|shall|have to|should always|should never)\b`,
		),
	},
	{[]string{"you are now"}, regexp.MustCompile(`\byou are now\b.{0,30}\b(mode|admin|developer|unrestricted|jailbr)`)},
	{[]string{" mode"}, regexp.MustCompile(`\b(developer|admin|god|debug) mode\b.{0,20}\b(enabled|activated|on)\b`)},
	{
		[]string{"system prompt", "your prompt", "your instructions", "api key", "private key"},
		regexp.MustCompile(
			`\b(reveal|print|repeat|show|output|leak)\b.{0,` +
				`30}\b(system prompt|your prompt|your instructions|api key|private key)`,
		),
	},
	{
		[]string{"send", "transfer", "pay"},
		regexp.MustCompile(
			`\b(send|transfer|pay)\b.{0,40}\b(wallet|private ` +
				`key|usdc|usdt|bitcoin|eth\b|credentials|password|0x[0-9a-f]{6})`,
		),
	},
	{
		[]string{"im_start", "im_end", "endoftext", "|system|"},
		regexp.MustCompile(`<\|?(im_start|im_end|system|endoftext)\|?>`),
	},
	{[]string{"http:", "https:"}, regexp.MustCompile(`\b(visit|fetch|open|call|post to|browse to)\b.{0,40}\bhttps?:`)},
	{[]string{"agent"}, regexp.MustCompile(`\bagents? (that|who|which) read`)},
}

// around is how much text around a word a pattern is tried on, in bytes. The
// patterns are slow, and a hostile page may be long.
const around = 160

// givesOrders reports whether a text gives orders to a language model.
func givesOrders(s string) bool {
	if len(s) < 12 {
		return false
	}
	s = strings.ToLower(clean(s))
	for _, role := range []string{"system:", "assistant:", "user:", "system :", "assistant :"} {
		if strings.HasPrefix(s, role) {
			return true
		}
	}
	for _, o := range orders {
		for _, word := range o.words {
			if near(s, word, o.pattern) {
				return true
			}
		}
	}
	return false
}

// near tries a pattern around the first places of a word.
func near(s, word string, pattern *regexp.Regexp) bool {
	at := 0
	for range 20 {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return false
		}
		i += at
		if pattern.MatchString(s[max(0, i-around/2):min(len(s), i+around)]) {
			return true
		}
		at = i + len(word)
	}
	return false
}

// Limits of what is looked at of one page.
const (
	maxHiddenParts = 300
	maxHiddenPart  = 4_000 // bytes
	maxHidden      = 60_000
)

// ordersInside reports whether a page hides orders from people: in comments,
// or in elements that are not shown.
func ordersInside(d *crawl.Document) bool {
	if d.Root == nil {
		return false
	}
	parts, bytes := 0, 0
	for n := range d.Root.Descendants() {
		text := ""
		switch {
		case n.Type == html.CommentNode:
			text = n.Data
		case n.Type == html.ElementNode && dom.Hidden(n):
			text = dom.Text(n)
		}
		if len(text) < 12 {
			continue
		}
		text = text[:min(len(text), maxHiddenPart)]
		parts, bytes = parts+1, bytes+len(text)
		if parts > maxHiddenParts || bytes > maxHidden {
			return false
		}
		if givesOrders(text) {
			return true
		}
	}
	return false
}
