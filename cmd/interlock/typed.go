package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"interlock"
	"interlock/cmd/interlock/cli"
)

// asTyped gives an error that names the field of a record the name of what the user typed: of an order its subject is the
// agent, the tool or the id on the command line, and the operator who gives it comes after --as. Fields of settings, and
// whatever the command does not take, keep their names.
func asTyped(err error, command *kong.Node) error {
	var exit *cli.ExitCode
	if errors.As(err, &exit) {
		return &cli.ExitCode{Code: exit.Code, Err: asTyped(exit.Err, command)}
	}
	var refused *interlock.Error
	if !errors.As(err, &refused) || command == nil {
		return err
	}
	text, ok := strings.CutPrefix(err.Error(), refused.Field+": ")
	if !ok {
		return err // what wraps it has named what it is about
	}
	for _, word := range wordsFor(refused.Field) {
		switch {
		case !takes(command, word):
		case strings.HasPrefix(word, "-"):
			return errors.New(word + ": " + text)
		default:
			return errors.New(strings.ToUpper(word) + ": " + text)
		}
	}
	return err
}

// flagged makes an error about a setting that stood on the command line one about its flag.
func flagged(p *cli.Program, err error) error {
	var refused *interlock.Error
	if p.Globals.Profile == "" || !errors.As(err, &refused) || refused.Field != "profile" || err.Error() != refused.Error() {
		return err
	}
	return cli.Usage(interlock.Errorf(refused.Code, "--profile", "%s", refused.Message))
}

// wordsFor lists what a field may be on a command line, flags with their dashes and arguments without; the first that the
// command takes is meant.
func wordsFor(field string) []string {
	switch field {
	case "id", "request":
		return []string{"id", "--request"}
	case "subject":
		return []string{"agent", "tool", "rule", "id", "name"}
	case "name":
		return []string{"name", "--name"}
	case "operator":
		return []string{"--as", "name"}
	case "agent", "rule", "tool":
		return []string{field, "--" + field}
	case "event", "proof":
		return []string{field}
	case "key", "kind", "times", "signature", "checkpoint", "sandbox":
		return []string{"--" + field}
	case "reason":
		return []string{"--reason", "--evidence"}
	case "ssh_key":
		return []string{"--ssh-key"}
	case "detail":
		return []string{"--to", "tool"}
	case "expires":
		return []string{"--for"}
	case "scope":
		return []string{"--path", "--agent"}
	case "conditions":
		return []string{"--where"}
	case "--rules":
		return []string{"dir"}
	}
	return nil
}

// takes reports whether a command has that flag or argument of its own.
func takes(command *kong.Node, word string) bool {
	if name, flag := strings.CutPrefix(word, "--"); flag {
		return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == name })
	}
	return slices.ContainsFunc(command.Positional, func(p *kong.Positional) bool { return p.Name == word })
}
