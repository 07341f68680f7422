package people

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/ledger"
)

type MessagesCommand struct {
	List messagesList `cmd:"" default:"withargs" help:"List the messages that agents have sent each other and not acknowledged, newest first."`
	Show messagesShow `cmd:"" help:"Show one message: where it comes from, why it waits, and what is in it."`
}

type messagesList struct {
	cli.ListFlags
	Agent string `help:"Sent to this agent alone." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run lists messages.
func (c *messagesList) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	mark := ledger.All
	if c.Agent != "" {
		mark = ledger.MessagesTo(c.Agent)
	}
	found, err := core.LettersUnder(p.Ctx, opened, mark, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, found.More())
	list := make([]interlock.Message, 0, len(found.Rows))
	for _, m := range found.Rows {
		if why, err := messages.WaitsFor(p.Ctx, opened, m, cli.Now()); err != nil {
			return err
		} else if len(why) > 0 {
			m.Status = interlock.MessageQuarantined
		}
		list = append(list, m.Message)
	}
	return cli.ShowRows(p, c.JSON, list, "no messages", func(rows []interlock.Message) *cli.Table {
		t := cli.NewTable("MESSAGE", "STATUS", "AGE", "FROM**", "TO**", "TYPE", "MEDIA*", "BYTES")
		for _, m := range rows {
			t.Row(m.ID, string(m.Status), cli.Age(cli.Now().Sub(m.Sent)), cli.Printable(m.From), cli.Printable(m.To),
				cli.Printable(m.Type),
				cli.Printable(m.Media), strconv.Itoa(m.Bytes))
			if m.Status == interlock.MessageQuarantined {
				t.Styled("STATUS", cli.Yellow)
			}
		}
		return t
	})
}

type messagesShow struct {
	ID      string `arg:"" help:"The message's id." placeholder:"ID"`
	Content string `help:"Write what is in it to this file, which must not be there yet." placeholder:"FILE"`
	JSON    bool   `name:"json" help:"Print JSON, without what is in it."`
}

// Run shows one message.
func (c *messagesShow) Run(p *cli.Program) error {
	opened, _, err := p.AuditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	rows, _, err := opened.Load(p.Ctx, ledger.Ref{Kind: ledger.Message, Key: c.ID})
	if err != nil {
		return err
	}
	var m ledger.MessageBody
	for _, row := range rows {
		m, _ = row.Value.(ledger.MessageBody)
	}
	if m.ID == "" {
		return interlock.Errorf(interlock.CodeNotFound, "ID", "no message of this name waits or was received lately")
	}
	why, err := messages.WaitsFor(p.Ctx, opened, m, cli.Now())
	if err != nil {
		return err
	}
	if len(why) > 0 {
		m.Status = interlock.MessageQuarantined
	}
	if c.Content != "" {
		file, err := os.OpenFile(c.Content, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return interlock.Errorf(interlock.CodeInvalid, "--content", "the file can't be made; name one that is not there yet")
		}
		_, err = file.Write(m.Content)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, m.Message)
	}
	return c.print(p, m, why)
}

func (c *messagesShow) print(p *cli.Program, m ledger.MessageBody, why []string) error {
	sort := m.Type
	if m.Version > 0 {
		sort += " version " + strconv.Itoa(m.Version)
	}
	lines := [][2]string{{"message", m.ID}, {"status", string(m.Status)}, {"from", m.From + " (type " + m.FromType + ")"}, {"to", m.To}, {"type", sort},
		{"content", fmt.Sprintf("%d bytes of %s, %s", m.Bytes, m.Media, m.Digest)}, {"orchestration", m.Orchestration},
		{"sent", m.Sent.Local().Format(time.RFC3339)}, {"until", m.Until.Local().Format(time.RFC3339)}}
	for _, reason := range why {
		lines = append(lines, [2]string{"waits", reason})
	}
	for _, s := range m.Steps {
		attested := "its structure is not attested: its type publishes no schema"
		if s.Valid {
			attested = "is as its schema says"
		}
		lines = append(lines, [2]string{"step " + strconv.Itoa(s.Step), s.Agent + ": " + s.Message + " " + attested})
	}
	if strings.HasPrefix(m.Media, "text/") || m.Media == "application/json" {
		lines = append(lines, [2]string{"in it", string(m.Content)})
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(p.Stdout, "%-14s %s\n", l[0], cli.Printable(l[1])); err != nil {
			return err
		}
	}
	return nil
}
