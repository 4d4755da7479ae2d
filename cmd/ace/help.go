package main

// helpCmd is --help by another name.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as key create."`
}

// Run prints the help of a command.
func (c *helpCmd) Run(w *world) error { return w.command(append(c.Command, "--help")) }
