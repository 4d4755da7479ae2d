package llmsdraft

import (
	"slices"
	"strings"
)

// languages are the names that languages have for themselves.
var languages = map[string]string{
	"ar": "العربية", "bg": "Български", "bn": "বাংলা", "ca": "Català", "cs": "Čeština", "cy": "Cymraeg", "da": "Dansk",
	"de": "Deutsch", "el": "Ελληνικά",
	"en": "English", "es": "Español", "et": "Eesti", "eu": "Euskara", "fa": "فارسی", "fi": "Suomi", "fr": "Français",
	"ga": "Gaeilge", "gl": "Galego",
	"he": "עברית", "hi": "हिन्दी", "hr": "Hrvatski", "hu": "Magyar", "id": "Bahasa Indonesia", "is": "Íslenska",
	"it": "Italiano", "ja": "日本語",
	"ko": "한국어", "lt": "Lietuvių", "lv": "Latviešu", "ms": "Bahasa Melayu", "nb": "Norsk bokmål", "nl": "Nederlands",
	"nn": "Norsk nynorsk", "no": "Norsk",
	"pl": "Polski", "pt": "Português", "ro": "Română", "ru": "Русский", "sk": "Slovenčina", "sl": "Slovenščina",
	"sr": "Српски", "sv": "Svenska",
	"ta": "தமிழ்", "th": "ไทย", "tr": "Türkçe", "uk": "Українська", "ur": "اردو", "vi": "Tiếng Việt", "zh": "中文",
}

// primary is the language of a tag such as de-AT, or "" for an unknown one.
func primary(tag string) string {
	tag, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	tag, _, _ = strings.Cut(tag, "_")
	if _, known := languages[tag]; known {
		return tag
	}
	return ""
}

// pathLanguage is the language that an address names in its first folder.
func (w *work) pathLanguage(p *page) string {
	parts := w.parts(p)
	if len(parts) == 0 || len(parts[0]) != 2 && (len(parts[0]) != 5 || parts[0][2] != '-' && parts[0][2] != '_') {
		return ""
	}
	lang := primary(parts[0])
	root := w.byKey[strings.TrimSuffix(w.folder, "/")+"/"+parts[0]]
	if lang == "" || !w.stated[lang] && root == nil {
		return ""
	}
	return lang
}

// language is what a page is written in, as far as is known; "" is unknown.
func (w *work) language(p *page) string {
	path := w.pathLanguage(p)
	switch {
	case p.hreflang != "":
		return p.hreflang
	case path != "" && w.stated[path]:
		return path
	case p.read && p.lang != "":
		return p.lang
	}
	return path
}

// settleLanguages gives other languages sections of their own if they have
// enough pages, and drops the rest.
func (w *work) settleLanguages() {
	w.lang = w.language(w.home)
	if w.home.lang != "" && w.home.hreflang == "" {
		w.lang = w.home.lang
	}
	others := map[string][]*page{}
	for _, p := range w.pages {
		if p.reason != "" || p == w.home {
			continue
		}
		if lang := w.language(p); lang != "" && w.lang != "" && lang != w.lang {
			others[lang] = append(others[lang], p)
		}
	}
	for lang, pages := range others {
		for _, p := range pages {
			if len(pages) >= minLanguage {
				p.section = languages[lang]
				continue
			}
			w.drop(p, OtherLang, lang)
		}
	}
	w.others = nil
	for lang, pages := range others {
		if len(pages) >= minLanguage {
			w.others = append(w.others, lang)
		}
	}
	slices.Sort(w.others)
}
