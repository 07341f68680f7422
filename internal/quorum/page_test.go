package quorum_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/quorum"
)

var update = flag.Bool("update", false, "write the page of orders")

const ordersPage = "../../docs/reference/orders.md"

// TestOrdersPageIsFresh walks the table of orders: each has a command that there is, words for who may not give it and for what a
// signer sees, and an event that tells of it. It writes docs/reference/orders.md, or holds it against the table.
//
//go:generate go test . -run TestOrdersPageIsFresh -update
func TestOrdersPageIsFresh(t *testing.T) {
	commands, err := os.ReadFile("../../docs/reference/commands.md") // which is held against the program's own help
	if err != nil {
		t.Fatal(err)
	}
	page := bytes.NewBufferString("<!-- Generated from the table of orders by: go generate ./internal/quorum -->\n# Orders\n\n" +
		"Every order of an operator that is no answer to a request. [Approvals](../approvals.md) says how they are signed.\n\n" +
		"| order | is about | command | page of the console | roles | loosens | recorded as |\n|---|---|---|---|---|---|---|\n")
	for _, verb := range quorum.Verbs() {
		if problems := wordless(verb, string(commands)); len(problems) > 0 {
			t.Errorf("the order %s has no %s", verb.Name, strings.Join(problems, ", no "))
		}
		var roles []string
		for _, role := range quorum.Roles() {
			if verb.Role(role) {
				roles = append(roles, role)
			}
		}
		loosens := ""
		if verb.Loosens {
			loosens = "yes"
		}
		fmt.Fprintf(page, "| `%s` | %s | `%s` | %s | %s | %s | %s |\n", verb.Name, verb.Subject, verb.Command.Name, verb.Form.Title,
			strings.Join(roles, ", "), loosens, verb.Event)
	}
	if *update {
		if err := os.WriteFile(ordersPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(ordersPage)
	if err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s is stale (%v): go generate ./internal/quorum", ordersPage, err)
	}
}

// wordless says what the row of an order lacks.
func wordless(verb quorum.Verb, commands string) (lacks []string) {
	lack := func(is bool, what string) {
		if is {
			lacks = append(lacks, what)
		}
	}
	lack(!strings.Contains(strings.ReplaceAll(commands, " (agents)", ""), "\n## interlock "+verb.Command.Name+"\n"), "command")
	lack(verb.Command.Help != "" && verb.Did == "", "word on what it did")
	lack(verb.Command.Help != "" && verb.Always == "" && (verb.Command.Argument == "" || verb.Command.About == ""), "argument")
	lack(verb.Form.Title != "" && (verb.Form.After == "" || verb.Form.Effect == "" && verb.Form.Takes == ""), "effect or page after it")
	lack(verb.Subject == "", "subject")
	lack(verb.Needs == "", "word for who may not give it")
	lack(verb.Role == nil || !slices.ContainsFunc(quorum.Roles(), verb.Role), "role")
	lack(!slices.Contains(interlock.EventTypes(), verb.Event), "event that lists tell")
	return lacks
}
