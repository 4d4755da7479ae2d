// Package langid guesses the language of a text from its script and its most
// common words.
//
//	text -> letters by script -> one script, one language: done
//	     -> words -> how many are among the commonest of each language
//	     -> enough, and clearly more than of the next: done
//	        otherwise: "" (unsure), which is no fault of anybody
package langid

import (
	"strings"
	"unicode"
)

// Limits of a guess.
const (
	maxText  = 20_000 // bytes that are looked at
	minWords = 25     // of a text in an alphabet that languages share
)

// scripts that determine the language by themselves.
var scripts = []struct {
	table *unicode.RangeTable
	lang  string
}{
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Greek, "el"},
	{unicode.Hebrew, "he"},
	{unicode.Thai, "th"},
	{unicode.Armenian, "hy"},
	{unicode.Georgian, "ka"},
	{unicode.Han, "zh"},
}

// common are the words that are commonest in running text of a language, and in
// few others.
var common = map[string]string{
	"en": "the of and to in is that for it with as was on be at by this are from or have not you your we our an " +
		"which can will more all their has been if when how what",
	"de": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er " +
		"hat dass sie nach wird bei einer um am sind noch wie einem über so zum haben nur oder aber vor zur bis mehr " +
		"durch man sein wurde wir ihre",
	"fr": "de la le et les des en un du une que est pour qui dans par plus pas au sur ne se sont il ce avec mais " +
		"nous vous ou leur été cette aux votre nos être ont ses même comme tout sans aussi",
	"es": "de la que el en y los se del las un por con no una su para es al lo como más o pero sus le ha me si sin " +
		"sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está nuestro",
	"it": "di che è e la il un a per in una non sono da del con si della le dei i nel alla come più anche al gli ha " +
		"ma lo delle se questo su dal nella suo ci essere o tutti quando nostro",
	"pt": "de que e o a do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu " +
		"sua ou ser quando muito há nos já está eu também só pelo pela até isso você nosso",
	"nl": "de van het een en in is dat op te zijn met voor niet aan er om ook als maar dan door over bij uit nog " +
		"naar hij heeft je deze kan wordt we worden onze of meer geen uw wat",
	"sv": "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när " +
		"ska vid eller också efter detta sin nu över alla ut mot våra",
	"da": "og i at det er en til på som af for med den de ikke der har et om han var men sig kan vi fra så ved eller " +
		"også efter hvor skal når blev vil nu over være vores",
	"nb": "og i det er på som en til å av for at med har de ikke den om et var jeg vi men han fra så seg kan ved " +
		"eller også etter skal når ble hvor være over våre",
	"fi": "ja on ei että se oli en hän mutta ovat kun niin myös sen joka kuin jos tai vain nyt ole mukaan sekä jo " +
		"voi mitä tämä siitä olla vuoden kanssa sitä jotka meidän",
	"pl": "w i na z się nie że do to jest o jak po co tak za od przez ale są czy dla by tym już jego ma być może " +
		"oraz tylko które który jako ich przy także lub nas",
	"cs": "a se v na je že to s z do o i jsou za by pro ale jako od po jsem tak už co nebo jen byl při jeho které " +
		"která který také být více než naše",
	"sk": "a sa v na je že to s z do o aj sú za by pre ale ako od po som tak už čo alebo len bol pri jeho ktoré " +
		"ktorá ktorý tiež byť viac než naše",
	"hu": "a az és hogy nem is egy van meg ez csak de ha már mint még vagy volt azt el ki mert minden lehet sem után " +
		"pedig ezt kell majd több által",
	"ro": "de și în a la nu cu pe care este din să o un pentru mai că ce au sau fi fost lui prin sunt după dar acest " +
		"această lor dacă între când noastre",
	"tr": "ve bir bu da de için ile çok olarak daha olan gibi en kadar ne var sonra ama her olduğu ya mi ki ise " +
		"değil göre veya tarafından",
	"id": "yang dan di dengan untuk dari ini pada tidak dalam itu akan adalah atau juga ke oleh sebagai telah dapat " +
		"anda kami lebih mereka bisa karena ada",
	"vi": "và của là có cho các được với trong một không người này những khi đã để từ về như đến tại trên hoặc bạn " +
		"chúng",
	"ru": "и в не на что с по как это но из от за для к так же бы у о до он она они мы вы или если при также только " +
		"его ее их есть быть был мы наш",
	"uk": "і в не на що з по як це але із від за для до так же би у про він вона вони ми ви або якщо при також " +
		"тільки його її їх є бути був та який",
	"bg": "и в не на че с по как това но от за да се са към или ако при също само е бъде беше който която ние вие " +
		"той тя те",
	"ar": "في من على إلى عن أن هذا هذه التي الذي مع كان لا ما أو هو هي كل بعد قبل",
	"fa": "در به از که این را با است برای آن یک خود تا بر هم نیز شد ما شما",
	"hi": "के में की है और से को का पर यह एक हैं कि लिए नहीं भी या इस तो हो",
}

// Detect returns the language of a text as a two-letter code, or "".
func Detect(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	if lang := byScript(text); lang != "" {
		return lang
	}
	return byWords(text)
}

func byScript(text string) string {
	counts := map[string]int{}
	letters := 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < 0x370 {
			continue
		}
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[s.lang]++
				break
			}
		}
	}
	if letters < minWords {
		return ""
	}
	if counts["ja"]*10 > letters { // kana between the characters that Chinese has too
		return "ja"
	}
	for _, s := range scripts {
		if counts[s.lang]*2 > letters {
			return s.lang
		}
	}
	return ""
}

func byWords(text string) string {
	hits := map[string]int{}
	kinds := map[string]int{} // different words of a language
	seen := map[string]bool{}
	words := 0
	table := lookup()
	for _, w := range strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		words++
		for _, lang := range table[w] {
			hits[lang]++
			if !seen[w] {
				kinds[lang]++
			}
		}
		seen[w] = true
	}
	best, next, lang := 0, 0, ""
	for name := range common {
		n := hits[name]
		if n > best || n == best && name < lang {
			best, next, lang = n, max(best, next), name
		} else {
			next = max(next, n)
		}
	}
	// Running text has every third word among the commonest; a tenth is little
	// enough for lists of names. Twins such as Danish and Norwegian stay unsure.
	if words < minWords || best*10 < words || best*100 < next*125 || kinds[lang] < 4 {
		return ""
	}
	return lang
}

// lookup returns the languages of each common word.
func lookup() map[string][]string {
	table := map[string][]string{}
	for lang, words := range common {
		for w := range strings.FieldsSeq(words) {
			table[w] = append(table[w], lang)
		}
	}
	return table
}
