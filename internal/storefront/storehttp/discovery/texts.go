package discovery

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"text/template"
	"time"

	"ace/internal/storefront/storehttp/answer"
)

//go:embed texts/*
var textFiles embed.FS

// texts are the documents that are written in sentences.
type texts struct{ all *template.Template }

func loadTexts() (*texts, error) {
	all, err := template.New("texts").Option("missingkey=error").ParseFS(textFiles, "texts/*")
	if err != nil {
		return nil, fmt.Errorf("reading the texts of the documents: %w", err)
	}
	return &texts{all}, nil
}

// textView fills a text.
type textView struct {
	Config

	Address map[string]string // of companions, by key; "" where there is none
}

// text renders one of the texts.
func (r *Registry) text(name string) render {
	return func(context.Context, http.Header) ([]byte, error) {
		view := textView{
			Config:  r.config,
			Address: map[string]string{"mcp": "", "a2a": "", "services": "", "bot_keys": ""},
		}
		for i := range r.entries {
			view.Address[r.entries[i].Key] = r.config.BaseURL + r.entries[i].Path
		}
		view.Name, view.Operator = oneLine(view.Name), oneLine(view.Operator)
		var b bytes.Buffer
		if err := r.texts.all.ExecuteTemplate(&b, name, view); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		return b.Bytes(), nil
	}
}

// SkillDescription says what the skill does and when to use it.
func (c Config) SkillDescription() string {
	return "Buy a product from " + oneLine(c.Name) +
		" for a person: list offers, open a checkout, pass on the payment page. Use when a user wants to buy, " +
		"price or compare something sold at " + c.host() + "."
}

// skillsIndex lists the skills with the digest of the bytes that are served
// (Agent Skills Discovery 0.2.0).
func (r *Registry) skillsIndex(ctx context.Context, h http.Header) ([]byte, error) {
	skill, err := r.text("SKILL.md")(ctx, h)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(skill)
	digest := hex.EncodeToString(sum[:])
	return answer.JSON(map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
		"skills": []map[string]string{{
			"name": skillName, "type": "skill-md", "description": r.config.SkillDescription(),
			"url": r.address("skill"), "digest": "sha256:" + digest, "sha256": digest,
		}},
	})
}

// aiBots are crawlers and assistants that are named in robots.txt. A named
// group replaces the one for all, so it repeats its rules.
func aiBots() []string {
	return []string{
		"GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-User", "Claude-SearchBot", "anthropic-ai",
		"Google-Extended", "PerplexityBot", "Perplexity-User",
		"Applebot-Extended", "Amazonbot", "Bytespider", "CCBot", "Meta-ExternalAgent", "cohere-ai", "DuckAssistBot",
		"MistralAI-User",
	}
}

// robots says what crawlers may do (RFC 9309), and what may be done with what
// they read (contentsignals.org).
func (r *Registry) robots(context.Context, http.Header) ([]byte, error) {
	var b strings.Builder
	if r.config.ContentSignal != "" {
		b.WriteString(
			"# Content-Signal says what the owner of this site allows to be done with what is\n# read here: yes " +
				"grants it, no reserves it, and what is not named is left open.\n" +
				"#   search    showing links and short excerpts in search results\n#   ai-input  using a page to " +
				"answer " +
				"a question at hand, with its source\n#   ai-train  training or tuning models\n\n")
	}
	group := func(agents ...string) {
		for _, a := range agents {
			b.WriteString("User-agent: " + a + "\n")
		}
		if r.config.ContentSignal != "" {
			b.WriteString("Content-Signal: " + r.config.ContentSignal + "\n")
		}
		b.WriteString("Allow: /\nDisallow: /checkout/\nDisallow: /c/\nCrawl-delay: 1\n\n")
	}
	group("*")
	group(aiBots()...)
	b.WriteString("Sitemap: " + r.address("sitemap") + "\n")
	if catalog := r.address("ai_catalog"); catalog != "" {
		b.WriteString("Agentmap: " + catalog + "\n")
	}
	return []byte(b.String()), nil
}

// securityTxt says where to report a vulnerability (RFC 9116). It expires at the
// start of a month that is half a year away, so its bytes change once a month.
func (r *Registry) securityTxt(context.Context, http.Header) ([]byte, error) {
	var b strings.Builder
	contact := r.config.SecurityContact
	if contact == "" {
		contact = r.config.Contact
	}
	if contact != "" && !strings.Contains(contact, "://") {
		contact = "mailto:" + contact
	}
	for _, c := range []string{contact, r.config.BaseURL + "/support"} {
		if c != "" {
			b.WriteString("Contact: " + c + "\n")
		}
	}
	now := time.Now().UTC()
	expires := time.Date(now.Year(), now.Month()+7, 1, 0, 0, 0, 0, time.UTC)
	b.WriteString("Expires: " + expires.Format(time.RFC3339) + "\nPreferred-Languages: en\nCanonical: " +
		r.address("security") + "\n")
	return []byte(b.String()), nil
}

// keyDirectory returns the keys with their signatures.
func (r *Registry) keyDirectory(_ context.Context, h http.Header) ([]byte, error) {
	header, body, err := r.config.Keys.Directory(time.Now())
	if err != nil {
		return nil, err
	}
	maps.Copy(h, header)
	return body, nil
}
