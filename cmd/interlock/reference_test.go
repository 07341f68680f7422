package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"interlock/cmd/interlock/cli"
)

const referencePage = "../../docs/reference/commands.md"

// TestCommandsPageIsFresh writes docs/reference/commands.md, which is what --help says of every command, or holds it against that.
//
//go:generate go test . -run TestCommandsPageIsFresh -update
func TestCommandsPageIsFresh(t *testing.T) {
	parser, err := newParser(&cli.Program{Getenv: func(string) string { return "" }, Stdout: new(strings.Builder),
		Stderr: new(strings.Builder)}, commandTable())
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	page.WriteString("<!-- Generated from the program's own help by: go generate ./cmd/interlock -->\n# All commands and flags\n\n" +
		"What `--help` says of every command. [Command line](../cli.md) tells more of what they do.\n\n## Flags of every command\n")
	writeFlags(&page, parser.Model.Node)
	leaves := 0
	for _, leaf := range parser.Model.Leaves(true) {
		leaves++
		writeCommand(&page, leaf)
	}
	if leaves < 50 {
		t.Errorf("only %d commands were found", leaves)
	}
	if *update {
		if err := os.WriteFile(referencePage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referencePage)
	if err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s is stale (%v): go generate ./cmd/interlock", referencePage, err)
	}
}

func writeCommand(page *bytes.Buffer, leaf *kong.Node) {
	fmt.Fprintf(page, "\n## %s\n\n`interlock %s`\n\n%s\n", leaf.FullPath(), leaf.Summary(), prose(leaf.Help))
	if leaf.Detail != "" {
		for _, paragraph := range strings.Split(strings.TrimSpace(leaf.Detail), "\n\n") {
			fmt.Fprintf(page, "\n%s\n", prose(paragraph))
		}
	}
	if len(leaf.Positional) > 0 {
		page.WriteString("\n| argument | what |\n|---|---|\n")
		for _, argument := range leaf.Positional {
			fmt.Fprintf(page, "| `%s` | %s |\n", inCode(argument.Summary()), inTable(argument.Help))
		}
	}
	writeFlags(page, leaf)
}

// writeFlags writes a command's own flags as a table; those that every command takes stand at the beginning of the page.
func writeFlags(page *bytes.Buffer, node *kong.Node) {
	head := "\n| flag | what |\n|---|---|\n"
	for _, flag := range node.Flags {
		if flag.Hidden || flag.Name == "help" {
			continue
		}
		page.WriteString(head)
		head = ""
		env := ""
		if len(flag.Envs) > 0 {
			env = ", `" + strings.Join(flag.Envs, "`, `") + "`"
		}
		fmt.Fprintf(page, "| `%s`%s | %s |\n", inCode(flag.String()), env, inTable(flag.Help))
	}
}

// prose is help as running text: what Markdown would take for marks is none. What stands in backquotes is code in both.
func prose(help string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.Join(strings.Fields(help), " "), "`") {
		if i%2 == 0 {
			part = strings.NewReplacer("*", `\*`, "<", `\<`).Replace(part)
		} else {
			part = "`" + part + "`"
		}
		b.WriteString(part)
	}
	return b.String()
}

func inTable(help string) string { return strings.ReplaceAll(prose(help), "|", `\|`) }

func inCode(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
