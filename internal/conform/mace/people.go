package mace

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"interlock/internal/conform"
)

const privacyPhrase = "I can’t store or repeat that kind of sensitive personal information."

func peopleChecks() []conform.Check {
	return []conform.Check{
		{IDs: []string{"MACE-S-02", "MACE-4-1", "MACE-12-5", "MACE-PII-1"}, Drives: "HTTP API, log", Do: unconsented},
		{IDs: []string{"MACE-4-2", "MACE-PII-2"}, Drives: "HTTP API, operators' and the council's commands", Do: consented},
		{IDs: []string{"MACE-4-4"}, Drives: "operators' commands, log", Do: rawForFew},
		{IDs: []string{"MACE-4-3", "MACE-PII-3"}, Drives: "operators' and the council's commands, interlock audit verify", Do: erased},
	}
}

// number is personal data of the high tier.
const number = "her number is 536-22-8741"

// handle submits personal data of a person, to be kept.
func (t town) handle(ctx context.Context, subject, run string) conform.Reply {
	return t.Call(ctx, "scout", http.MethodPost, "/pii/detect_and_handle", map[string]any{"text": number, "run": run,
		"subject": subject, "keep": true})
}

func unconsented(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	said := t.handle(ctx, "u-1", "r1")
	flagged, cut := t.newest(ctx, "PII_FLAGGED", `"us-ssn"`), t.newest(ctx, "REDACTION_EVENT", `"us-ssn"`)
	everything := t.CLI(ctx, "", "audit", "list", "--json", "--limit", "1000").Out
	return "it is not kept; what stays is its keyed hash: " + flagged.by() + ", " + cut.by(),
		conform.First(flagged.is("PII_FLAGGED"),
			cut.is("REDACTION_EVENT"),
			conform.Unless(said.Member("outcome") == "consent_required" && strings.Contains(said.Text, privacyPhrase), "it is answered %s",
				said.Text),
			conform.Unless(patterns()["event"].MatchString(string(flagged.Payload)) && strings.Contains(string(flagged.Payload), "reason"),
				"the event is %s", flagged.Payload),
			conform.Unless(!strings.Contains(said.Text+everything, "536-22"), "the number stands in the answer or in the log"))
}

// consentID is a consent's.
var consentID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`consent ([0-9a-f]{64})`) })

// agrees puts on record that a person agrees, for one run of scout's, and has the council approve it.
func (t town) agrees(ctx context.Context, subject, run string) (before conform.Reply, err error) {
	said, err := t.Order(ctx, "adam", "privacy", "consent", "--subject", subject, "--said", "yes, by letter", "--tier", "high",
		"--agent", "scout",
		"--run", run, "--reason", "a letter")
	if err != nil {
		return before, err
	}
	found := consentID().FindStringSubmatch(said.Out)
	if found == nil {
		return before, fmt.Errorf("a consent is answered %s", said.Out)
	}
	before = t.handle(ctx, subject, run)
	_, err = t.given(ctx, "pii_store", "consent:"+found[1], "she wants it filed")
	return before, err
}

func consented(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	before, err := t.agrees(ctx, "u-2", "r1")
	if err != nil {
		return "", err
	}
	kept, elsewhere := t.handle(ctx, "u-2", "r1"), t.handle(ctx, "u-2", "r2")
	endless := t.refused(ctx, "adam", "until", "privacy", "consent", "--subject", "u-2", "--said", "yes", "--persistent",
		"--reason", "a letter")
	return "with the person's consent alone it is not kept, with the council's as well it is (" + kept.Member("kept") +
			"), in another run it is not; a consent that lasts names its end", conform.First(endless,
			conform.Unless(before.Member("outcome") == "consent_required" && strings.Contains(before.Text, `"council"`),
				"with consent alone: %s", before.Text),
			conform.Unless(kept.Member("outcome") == "allowed" && kept.Member("kept") != "", "with both: %s", kept.Text),
			conform.Unless(elsewhere.Member("outcome") == "consent_required", "in another run: %s", elsewhere.Text))
}

func rawForFew(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if _, err := t.agrees(ctx, "u-3", "r1"); err != nil {
		return "", err
	}
	t.handle(ctx, "u-3", "r1")
	auditor := t.refused(ctx, "aud", "role", "privacy", "export", "--subject", "u-3", "--reason", "a look")
	read, err := t.Order(ctx, "c1", "privacy", "export", "--subject", "u-3", "--reason", "the passport was shown")
	event := t.newest(ctx, "admin_access_event", "u-3")
	return "an auditor gets nothing, one of the council gets it by a signed order that is recorded: " + event.by(),
		conform.First(err, auditor,
			event.is("admin_access_event"), conform.Unless(strings.Contains(read.Out, number), "what is kept is answered %s", read.Out),
			conform.Unless(event.Actor == "c1", "the event names %s", event.Actor))
}

func erased(ctx context.Context, d *conform.Driver) (string, error) {
	t, err := common(ctx, d)
	if err != nil {
		return "", err
	}
	if _, err := t.agrees(ctx, "u-4", "r1"); err != nil {
		return "", err
	}
	t.handle(ctx, "u-4", "r1")
	asked, err := t.Order(ctx, "adam", "privacy", "delete", "--subject", "u-4", "--reason", "the passport was shown")
	if err != nil {
		return "", err
	}
	id := patterns()["request"].FindString(asked.Out)
	early := t.refused(ctx, "adam", "approved", "request", "execute", id)
	if err := conform.First(early, t.settled(ctx, id)); err != nil {
		return "", err
	}
	manifest, gone := t.newest(ctx, "deletion_manifest", "u-4"), t.CLI(ctx, "", "privacy", "find", "--subject", "u-4")
	sound := t.CLI(ctx, "", "audit", "verify")
	return "the council deletes it, and nobody before: the key is destroyed, the manifest is " + manifest.by() +
			", and the log verifies", conform.First(
			manifest.is("deletion_manifest"), t.refused(ctx, "adam", "key already destroyed", "privacy", "export", "--subject", "u-4",
				"--reason", "again"),
			conform.Unless(strings.Contains(gone.Out, "key already destroyed"), "afterwards it is found: %s", gone.Out),
			conform.Unless(sound.Code == 0, "the log does not verify: %s", sound.Err))
}
