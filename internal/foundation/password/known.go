package password

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// known.txt.gz holds words and passwords of breaches; ATTRIBUTION.md says whose.
//
//go:embed known.txt.gz
var knownFiles embed.FS

func readKnown() (map[string]bool, error) {
	file, err := knownFiles.Open("known.txt.gz")
	if err != nil {
		return nil, fmt.Errorf("reading known passwords: %w", err)
	}
	defer func() { _ = file.Close() }() // it is in memory
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("reading known passwords: %w", err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, fmt.Errorf("reading known passwords: %w", err)
	}
	words := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words[strings.TrimSuffix(line, "\n")] = true
	}
	return words, nil
}

// Known reports whether a password is one that guessers try first: one of known
// breaches, one common word with something around it ("Password2024!", "P4ssw0rd"),
// a short piece again and again, or a row of keys or letters. The same holds for
// words, such as the name and the e-mail address of the user, in place of common
// words.
func (h *Hasher) Known(password string, words ...string) (bool, error) {
	list, err := h.known()
	if err != nil {
		return false, err
	}
	is := func(text string) bool {
		if text == "" {
			return false
		}
		for _, w := range words {
			name, _, _ := strings.Cut(strings.ToLower(w), "@")
			if name != "" && (text == name || text == bare(name) || text == strings.ToLower(w)) {
				return true
			}
		}
		return list[text]
	}
	text := strings.ToLower(strings.TrimSpace(password))
	piece := repeated(text)
	switch {
	case list[text], len(piece) <= 4, row(piece):
		return true, nil
	case bare(text) == "":
		// Digits and signs alone: years, dates and telephone numbers are short.
		return len(text) < 16, nil
	}
	return slices.ContainsFunc([]string{
		text, bare(text), piece, bare(piece), plainLetters(bareEnds(text)), repeated(bare(text)),
	}, is), nil
}

// bare cuts off what is not a letter at both ends.
func bare(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// bareEnds cuts off digits and signs at the end, but not in place of letters at
// the beginning ("4dministrator").
func bareEnds(text string) string {
	return strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// plainLetters undoes the usual replacements of letters.
func plainLetters(text string) string {
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!",
		"i").Replace(text)
}

// repeated returns the shortest piece that text is a repetition of: text itself
// if there is none.
func repeated(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if strings.Repeat(text[:n], len(text)/n+1)[:len(text)] == text {
			return text[:n]
		}
	}
	return text
}

// row reports whether a text goes along the alphabet, the digits or a row of
// keys, in either direction.
func row(text string) bool {
	reversed := []rune(text)
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	for _, keys := range []string{
		"abcdefghijklmnopqrstuvwxyz", "01234567890123456789", "qwertyuiopasdfghjklzxcvbnm",
		"qwertzuiopasdfghjklyxcvbnm",
		"azertyuiopqsdfghjklmwxcvbn", "1234567890qwertyuiop",
	} {
		if strings.Contains(keys, text) || strings.Contains(keys, string(reversed)) {
			return true
		}
	}
	return false
}
