// Package llmstxt parses, validates and writes llms.txt files.
//
// Source: the proposal at https://llmstxt.org/ (repository AnswerDotAI/llms-txt,
// read in November 2026), which has no version. A file is Markdown:
//
//	# Name                        the only required part
//	> summary
//	details                       paragraphs and lists, no headings
//	## Section
//	- [name](address): notes
//	## Optional                   a reader may skip it
//
//	Parse(text) -> *File          never fails: invalid lines are findings
//	Check(text, base) -> *Report  level 0 to 4 and all findings
//	File.String() -> text
//
// Where we diverge: the proposal has no limits. Ours are the union of the limits of known readers
// and checkers: a file of up to 50 KB, notes of up to 160 characters, absolute URLs, each once,
// mostly of the site itself. Bullets * and + are accepted as well as -, and so are notes after a
// dash; the file that String writes uses neither.
package llmstxt
