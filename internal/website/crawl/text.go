package crawl

import "unicode"

// Words counts the words of a text. Scripts without spaces between words count
// one for two characters.
func Words(text string) int {
	words, dense, inside := 0, 0, false
	for _, r := range text {
		switch {
		case spaceless(r):
			dense++
			inside = false
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if !inside {
				words++
			}
			inside = true
		case r == '\'' || r == '’' || r == '-' || r == '.' || r == '_' || r == ',': // inside a word or a number
		default:
			inside = false
		}
	}
	return words + (dense+1)/2
}

func spaceless(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}
