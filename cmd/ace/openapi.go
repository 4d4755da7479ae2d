package main

import (
	"ace/internal/server"
)

type openapiCmd struct {
	Host string `arg:"" optional:"" enum:"store,platform" default:"store" help:"Whose document (${enum})."`
}

// Run prints the OpenAPI document of a host.
func (c *openapiCmd) Run(w *world) error {
	document, err := server.StoreDocument()
	if c.Host == "platform" {
		document, err = server.PlatformDocument()
	}
	if err != nil {
		return err
	}
	_, err = w.stdout.Write(document)
	return err
}
