package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ace/internal/config"
)

const configurationHead = `# Configuration

This page follows from the code; ` + "`make docs`" + ` writes it. No setting is needed: ` + "`ace serve`" +
	` runs a store with a sandbox
that accepts test payments.

A setting is read from, in this order: the flag, the variable, the settings file, the default. The settings file holds
` + "`ACE_NAME=value`" + ` lines and is named by ` + "`--config`" + ` or ` + "`ACE_CONFIG`" +
	`; lines may be empty or start with ` + "`#`" + `. Lists are
separated by commas. At the start every setting is checked, and the error names the setting and the fix.

A setting that holds a secret may be given as a file instead, such as a secret of a container or a credential of
systemd: the same variable with ` + "`_FILE`" + ` at its end names the file. Space around the value is dropped, and a
file that every user can write is refused. Such settings are
`

// configuration is the page of all settings, grouped as the struct groups them.
func configuration() ([]byte, error) {
	parser, err := kong.New(&config.Settings{}, kong.Name("ace serve"))
	if err != nil {
		return nil, fmt.Errorf("reading the settings' tags: %w", err)
	}
	var groups []string
	rows := map[string][]string{}
	for _, flag := range parser.Model.Flags {
		if flag.Name == "help" {
			continue
		}
		if flag.Group == nil || len(flag.Envs) == 0 || flag.Help == "" {
			return nil, fmt.Errorf("the setting %s needs a variable, a group and a help text", flag.Name)
		}
		group := flag.Group.Title
		if group == "" {
			group = flag.Group.Key
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		rows[group] = append(rows[group], row(flag))
	}
	var page bytes.Buffer
	page.WriteString(configurationHead)
	for i, name := range config.Secrets() {
		separator := []string{"", ", "}[min(i, 1)]
		fmt.Fprintf(&page, "%s`%s`", separator, name)
	}
	page.WriteString(".\n")
	for _, group := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n| Variable | Flag | Default | Meaning |\n| --- | --- | --- | --- |\n", group)
		for _, r := range rows[group] {
			page.WriteString(r)
		}
	}
	return page.Bytes(), nil
}

func row(flag *kong.Flag) string {
	name := "--" + flag.Name
	if flag.PlaceHolder != "" && !flag.IsBool() {
		name += " " + flag.PlaceHolder
	}
	value := ""
	switch {
	case flag.HasDefault && flag.Default != "":
		value = "`" + flag.Default + "`"
	case flag.IsBool():
		value = "`false`"
	}
	return fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", flag.Envs[0], name, value, cell(flag.Help))
}

// cell keeps text inside one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}
