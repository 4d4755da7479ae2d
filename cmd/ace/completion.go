package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completions are the scripts of the shells. Each asks "ace completion words"
// for the words that fit at the cursor, so that they work with every version.
//
//go:embed completion
var completions embed.FS

// completionCmd completes commands in a shell.
type completionCmd struct {
	Bash  completionScript `cmd:"" help:"For bash: add to ~/.bashrc: source <(ace completion bash)"`
	Zsh   completionScript `cmd:"" help:"For zsh: add to ~/.zshrc, after compinit: source <(ace completion zsh)"`
	Fish  completionScript `cmd:"" help:"For fish: ace completion fish > ~/.config/fish/completions/ace.fish"`
	Words completionWords  `cmd:"" hidden:"" help:"Print the words that fit at the cursor, one a line."`
}

type completionScript struct{}

// Run prints the script.
func (c *completionScript) Run(w *world, ctx *kong.Context) error {
	script, err := completions.ReadFile("completion/ace." + ctx.Selected().Name)
	if err != nil {
		return fmt.Errorf("reading the script: %w", err)
	}
	_, err = w.stdout.Write(script)
	return err
}

type completionWords struct {
	Before []string `arg:"" optional:"" passthrough:"" help:"Words of the line after ace; the last one is at the cursor."`
}

// Run prints the words that fit at the cursor.
func (c *completionWords) Run(w *world, ctx *kong.Context) error {
	before := c.Before
	if len(before) > 0 && before[0] == "--" {
		before = before[1:]
	}
	for _, word := range candidates(ctx.Model.Node, before) {
		if _, err := fmt.Fprintln(w.stdout, word); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// candidates returns the words that fit in the place of the last one.
func candidates(n *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	at := words[len(words)-1]
	flags := n.Flags
	var value *kong.Flag
	for _, word := range words[:len(words)-1] {
		name, _, given := strings.Cut(word, "=")
		switch flag := flagNamed(flags, name); {
		case value != nil:
			value = nil
		case flag != nil && !given && !flag.IsBool():
			value = flag
		case strings.HasPrefix(word, "-"):
		default:
			if child := childNamed(n, word); child != nil {
				n, flags = child, append(slices.Clone(flags), child.Flags...)
			}
		}
	}
	var all []string
	name, _, given := strings.Cut(at, "=")
	switch flag := flagNamed(flags, name); {
	case value != nil:
		all = options(value.Value)
	case flag != nil && given:
		for _, one := range options(flag.Value) {
			all = append(all, name+"="+one)
		}
	case strings.HasPrefix(at, "-"):
		for _, f := range flags {
			if !f.Hidden {
				all = append(all, "--"+f.Name)
			}
		}
	default:
		for _, child := range n.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
		for _, argument := range n.Positional {
			all = append(all, options(argument)...)
		}
	}
	all = slices.DeleteFunc(all, func(word string) bool { return !strings.HasPrefix(word, at) })
	slices.Sort(all)
	return slices.Compact(all)
}

// options returns the values that a flag or an argument may have, if they are
// listed.
func options(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

func flagNamed(flags []*kong.Flag, word string) *kong.Flag {
	for _, f := range flags {
		if "--"+f.Name == word {
			return f
		}
	}
	return nil
}

func childNamed(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}
