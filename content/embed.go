// Package content holds the default pages of the store as Markdown.
//
//	content/*.md -> Pages -> site.Folder -> pages of a store that has none of
//	                                        its own for that path
//
// A page that names settings of the operator carries "template: true". Whoever
// runs a store should read terms, privacy and refunds, and replace them with a
// file of the same name where they do not fit.
package content

import "embed"

//go:embed *.md
var pages embed.FS

// Pages are the files.
func Pages() embed.FS { return pages }
