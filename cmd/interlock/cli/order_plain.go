package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"interlock/internal/quorum"
)

// PlainOrders are the commands of a group that give orders of nothing but a subject and a reason: one for each row of
// [quorum.Verbs] that has help for a command of the group. What they are called and what help says of them is that row's.
type PlainOrders struct{ kong.Plugins }

type plainCommand struct {
	verb    quorum.Verb
	Subject string `arg:"" placeholder:"NAME"`
	OrderFlags
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Fill makes the commands of a group.
func (o *PlainOrders) Fill(group string) {
	for _, verb := range quorum.Verbs() {
		name, of := strings.CutPrefix(verb.Command.Name, group+" ")
		if !of || verb.Command.Help == "" {
			continue
		}
		one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "Order", Type: reflect.TypeFor[plainCommand](),
			Tag: reflect.StructTag(fmt.Sprintf("cmd:\"\" name:%q help:%q", name, verb.Command.Help))}}))
		one.Elem().Field(0).Set(reflect.ValueOf(plainCommand{verb: verb}))
		o.Plugins = append(o.Plugins, one.Interface())
	}
}

// Help is what `--help` adds.
func (c plainCommand) Help() string { return c.verb.Command.Detail }

// Run gives the order.
func (c *plainCommand) Run(p *Program) error {
	subject := c.Subject
	if c.verb.Always != "" {
		subject = c.verb.Always
	}
	return p.PlainOrder(c.OrderFlags, c.verb.Name, subject, c.Reason, c.JSON)
}

// Described gives each plain command in a tree what its row says.
func Described(node *kong.Node) {
	for _, child := range node.Children {
		Described(child)
	}
	c, plain := node.Target.Addr().Interface().(*plainCommand)
	if !plain {
		return
	}
	row := c.verb.Command
	if c.verb.Always != "" {
		node.Positional = nil
	} else {
		node.Positional[0].Name, node.Positional[0].Help = row.Argument, row.About
	}
	node.Flags = slices.DeleteFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == "json" && !row.JSON })
	for _, f := range node.Flags {
		if f.Name == "reason" {
			f.Required = c.verb.Reason
			if row.Why != "" {
				f.Help = row.Why
			}
		}
	}
}
