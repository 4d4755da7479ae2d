// Package llmstxt reads, checks and writes llms.txt files.
//
// Source: the proposal at https://llmstxt.org/ (repository AnswerDotAI/llms-txt,
// read in November 2026), which has no version. A file is Markdown:
//
//	# Name                        the only part that must be there
//	> summary
//	details                       paragraphs and lists, no headings
//	## Section
//	- [name](address): notes
//	## Optional                   may be left out by a reader in a hurry
//
//	Parse(text) -> *File          never fails: what does not fit is a Finding
//	Check(text, base) -> *Report  level 0 to 4 and all findings
//	File.String() -> text
//
// Where we diverge: the proposal gives no measures. Ours are the union of what
// known readers and checkers ask: a file of up to 50 KB, notes of up to 160
// characters, absolute addresses, each once, mostly of the site itself. Bullets
// * and + are read as well as -, and so are notes after a dash; the file that
// String writes uses neither.
package llmstxt
