// Package content holds the default pages of the store as Markdown.
//
//	content/*.md -> Pages -> site.Folder -> pages of a store that has no own
//	                                        page for that path
//
// A page that names settings of the operator has "template: true". The operator of
// a store should read terms, privacy and refunds, and replace them with files of
// the same name if necessary.
package content

import "embed"

//go:embed *.md
var pages embed.FS

// Pages returns the files.
func Pages() embed.FS { return pages }
