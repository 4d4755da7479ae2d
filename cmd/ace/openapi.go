package main

import (
	"ace/internal/server"
)

type openapiCmd struct{}

// Run prints the store's OpenAPI document.
func (c *openapiCmd) Run(w *world) error {
	document, err := server.StoreDocument()
	if err != nil {
		return err
	}
	_, err = w.stdout.Write(document)
	return err
}
