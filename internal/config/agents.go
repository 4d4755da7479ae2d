package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"os"
	"strings"
)

// checkAgents checks the settings that are published to agents, and the keys for signing our own
// requests.
func (s *Settings) checkAgents() error {
	var errs []error
	if err := s.checkSignals(); err != nil {
		errs = append(errs, err)
	}
	if c := s.SecurityContact; c != "" {
		u, err := url.Parse(c)
		if _, bad := mail.ParseAddress(c); bad != nil && (err != nil || u.Scheme != "https" || u.Host == "") {
			errs = append(errs, errors.New("ACE_SECURITY_CONTACT is neither an e-mail address nor an https URL"))
		}
	}
	if s.BotSigning == "off" && len(s.BotKeyFiles) > 0 {
		errs = append(errs, errors.New("ACE_BOT_KEY_FILE is not used with ACE_BOT_SIGNING=off: remove one of them"))
	}
	if len(s.BotKeyFiles) > 4 {
		errs = append(errs,
			errors.New(
				"ACE_BOT_KEY_FILE names more than four keys: the first signs, the others are published while keys "+
					"are exchanged"))
	}
	for _, file := range s.BotKeyFiles {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			errs = append(errs,
				fmt.Errorf(
					"ACE_BOT_KEY_FILE names %q, which cannot be read: create a key with openssl genpkey -algorithm "+
						"ed25519 -out FILE", file))
		}
	}
	return errors.Join(errs...)
}

// checkSignals checks ACE_CONTENT_SIGNAL.
func (s *Settings) checkSignals() error {
	if len(s.ContentSignals) == 1 && s.ContentSignals[0] == "none" {
		return nil
	}
	seen := map[string]bool{}
	for _, text := range s.ContentSignals {
		name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
		known := name == "search" || name == "ai-input" || name == "ai-train"
		if !known || value != "yes" && value != "no" || seen[name] {
			return fmt.Errorf(
				"ACE_CONTENT_SIGNAL holds %q: write search, ai-input and ai-train with yes or no, each once, for "+
					"example search=yes,ai-input=yes,ai-train=no; or none", text)
		}
		seen[name] = true
	}
	return nil
}

// ContentSignal returns the content signal in the form of robots.txt; "" if none is published.
func (s *Settings) ContentSignal() string {
	if len(s.ContentSignals) == 1 && s.ContentSignals[0] == "none" {
		return ""
	}
	signals := make([]string, len(s.ContentSignals))
	for i, text := range s.ContentSignals {
		signals[i] = strings.TrimSpace(text)
	}
	return strings.Join(signals, ", ")
}
