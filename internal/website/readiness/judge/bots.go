package judge

import (
	"fmt"
	"strings"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/prose"
)

// bot is one crawler of an AI or search operator, as its operator documents it.
type bot struct {
	agent, operator, purpose string
	share                    int // of its group of checks
}

// Purposes of crawlers.
const (
	forSearch   = "search"   // builds the index that answers are made from
	forUser     = "user"     // reads a page because a person asked for it
	forTraining = "training" // collects for training of models
)

var bots = []bot{
	{"Googlebot", "Google", forSearch, 6},
	{"Bingbot", "Microsoft", forSearch, 4},
	{"OAI-SearchBot", "OpenAI", forSearch, 4},
	{"Claude-SearchBot", "Anthropic", forSearch, 2},
	{"PerplexityBot", "Perplexity", forSearch, 2},
	{"Applebot", "Apple", forSearch, 2},
	{"Amzn-SearchBot", "Amazon", forSearch, 1},
	{"DuckAssistBot", "DuckDuckGo", forSearch, 1},
	{"ChatGPT-User", "OpenAI", forUser, 1},
	{"Claude-User", "Anthropic", forUser, 1},
	{"Perplexity-User", "Perplexity", forUser, 1},
	{"MistralAI-User", "Mistral", forUser, 1},
	{"Google-Agent", "Google", forUser, 1},
	{"DuckAssistBot", "DuckDuckGo", forUser, 1},
	{"GPTBot", "OpenAI", forTraining, 1},
	{"ClaudeBot", "Anthropic", forTraining, 1},
	{"Google-Extended", "Google", forTraining, 1},
	{"Applebot-Extended", "Apple", forTraining, 1},
	{"CCBot", "Common Crawl", forTraining, 1},
	{"meta-externalagent", "Meta", forTraining, 1},
	{"Bytespider", "ByteDance", forTraining, 1},
}

// share is how much of a group of crawlers may read a page, and who may not.
func (a *Audit) share(p *crawl.Page, purpose string) (value float64, blocked []string, line int) {
	allowed, all := 0, 0
	for _, b := range bots {
		if b.purpose != purpose {
			continue
		}
		all += b.share
		d := a.Site.Robots.Decide(b.agent, p.Path())
		if d.Allowed {
			allowed += b.share
			continue
		}
		blocked = append(blocked, b.agent)
		if line == 0 {
			line = d.Line
		}
	}
	return float64(allowed) / float64(all), blocked, line
}

// SearchBlocked reports whether no crawler for search may read any page.
func (a *Audit) SearchBlocked() bool {
	for _, p := range a.Pages {
		if v, _, _ := a.share(p, forSearch); v > 0 {
			return false
		}
	}
	return len(a.Pages) > 0
}

func checkBotsSearch(a *Audit, p *crawl.Page) Finding { return a.botsFinding(p, forSearch) }

func checkBotsUser(a *Audit, p *crawl.Page) Finding { return a.botsFinding(p, forUser) }

func (a *Audit) botsFinding(p *crawl.Page, purpose string) Finding {
	value, blocked, line := a.share(p, purpose)
	if len(blocked) == 0 {
		return Measured(1, "robots.txt lets all of them read %s", p.Path())
	}
	f := Measured(value, "robots.txt keeps out %s", strings.Join(blocked, ", "))
	switch {
	case a.Site.Robots.Access == crawl.None:
		f.Observed += " and everybody else, since it cannot be read"
	case line > 0:
		d := a.Site.Robots.Decide(blocked[0], p.Path())
		f.Observed += fmt.Sprintf(" (robots.txt line %d, User-agent: %s, %s)", d.Line, prose.Cut(d.Agent, 60),
			prose.Cut(d.Rule, 120))
	}
	return f
}

// checkBotsTraining reports the stance, which is the owner's to choose.
func checkBotsTraining(a *Audit) SiteFinding {
	var may, not []string
	for _, b := range bots {
		if b.purpose != forTraining {
			continue
		}
		if a.Site.Robots.Decide(b.agent, a.Pages[0].Path()).Allowed {
			may = append(may, b.agent)
		} else {
			not = append(not, b.agent)
		}
	}
	none := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, ", ")
	}
	f := Measured(1, "may read: %s; kept out: %s", none(may), none(not))
	return SiteFinding{Finding: f, URL: a.Address("robots.txt")}
}

// Bot is one row of the matrix of crawlers.
type Bot struct {
	Agent, Operator string
	Purpose         string // search, user or training
	Allowed         bool   // on all pages of the sample
	Rule            string // that decides, with its line; empty: none
	Pages           string // for example "9/10"
}

// Matrix is one row for each crawler.
func (a *Audit) Matrix() []Bot {
	var rows []Bot
	for _, b := range bots {
		row := Bot{Agent: b.agent, Operator: b.operator, Purpose: b.purpose, Allowed: true}
		allowed := 0
		for _, p := range a.Pages {
			d := a.Site.Robots.Decide(b.agent, p.Path())
			if d.Allowed {
				allowed++
			}
			if row.Allowed && (row.Rule == "" || !d.Allowed) && d.Rule != "" {
				row.Rule = RuleText(d)
			}
			row.Allowed = row.Allowed && d.Allowed
		}
		if a.Site.Robots.Access == crawl.None {
			row.Rule = "robots.txt cannot be read: crawlers stay away"
		}
		row.Pages = fmt.Sprintf("%d/%d", allowed, len(a.Pages))
		rows = append(rows, row)
	}
	return rows
}

// RuleText is the rule of robots.txt that decides, with its line.
func RuleText(d crawl.Decision) string {
	return fmt.Sprintf("robots.txt:%d %s", d.Line, prose.Cut(d.Rule, 120))
}

// botsSnippet is the group to add to robots.txt.
func botsSnippet(purpose string) func(*Audit) string {
	return func(a *Audit) string {
		named := map[string]bool{}
		var lines []string
		for _, p := range a.Pages {
			_, blocked, _ := a.share(p, purpose)
			for _, agent := range blocked {
				if !named[agent] {
					named[agent] = true
					lines = append(lines, "User-agent: "+agent)
				}
			}
		}
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(append(lines, "Allow: /"), "\n")
	}
}
