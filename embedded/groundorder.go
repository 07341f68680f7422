package embedded

import (
	"context"
	"errors"
	"io/fs"

	"interlock"
	admissionjudging "interlock/internal/admission/judging"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/fileio"
	"interlock/internal/groundrules"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// A Ground is what judges hold actions against, and whence it is.
type Ground struct {
	Rules   *groundrules.Rules // all of them
	Added   *groundrules.Rules // what the operator adds to those that ship; nil: nothing
	Text    string             // of that
	Order   string             // id of the event of the order by which they are in force; empty: they are the file's
	By      string             // who gave it
	Differs string             // what of the file is otherwise than what is in force; empty: nothing
	Last    interlock.Digest   // what the log named last as in force; empty: it never named any
}

// groundOrders is where it is recorded what judges are to hold actions against.
type groundOrders struct {
	settings config.Config
	port     store.Port
	key      *auditlog.PublicKey
}

func (o groundOrders) inForce(ctx context.Context) (Ground, error) {
	return groundInForce(ctx, o.settings, o.port, o.key)
}

// newest is the id of the newest event about ground rules; empty where there is none.
func (o groundOrders) newest(ctx context.Context) (string, error) {
	entries, err := o.port.Entries(ctx, interlock.EventGroundRules, ledger.Before(-1, 1))
	if err != nil || len(entries) == 0 {
		return "", err
	}
	return entries[0].ID, nil
}

// groundInForce are the ground rules in force: those that an admin ordered last, whatever has become of the file since, or, where nobody
// has ordered any, the file's. What was ordered and can't be had is an error: a judge is never held to less than that.
func groundInForce(ctx context.Context, c config.Config, port store.Port, key *auditlog.PublicKey) (Ground, error) {
	last, order, err := lastGround(ctx, port, key)
	if err != nil {
		return Ground{}, err
	}
	text, absent, unread := groundFile(c)
	if order.ID == "" {
		if unread != nil {
			return Ground{}, unread
		}
		g := Ground{Text: text, Last: last}
		g.Rules, g.Added, err = groundOf(c.Judge.RulesFile(c.Home), []byte(text), absent)
		return g, err
	}
	g := Ground{Last: last, Order: order.ID, By: order.record.Order.Operator}
	if g.Text, err = order.text(ctx, port); err != nil {
		return g, err
	}
	switch {
	case unread != nil:
		g.Differs = "can't be used: " + unread.Error()
	case text != g.Text && absent:
		g.Differs = "is not there"
	case text != g.Text:
		g.Differs = "holds other ground rules"
	}
	g.Rules, g.Added, err = groundOf("the ground rules that were ordered", []byte(g.Text), g.Text == "")
	return g, err
}

// groundFile is the text of the file of ground rules, and whether there is none, which adds nothing.
func groundFile(c config.Config) (text string, absent bool, err error) {
	file := c.Judge.RulesFile(c.Home)
	read, err := fileio.Own(file, groundrules.MaxBytes, fileio.Settled)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Judge.Rules == "":
		return "", true, nil
	case err != nil:
		return "", false, interlock.Errorf(interlock.CodeInvalid, file, "the ground rules can't be read: %s", fileio.Reason(err))
	}
	return string(read), false, nil
}

// A groundOrder is an event by which an admin ordered ground rules.
type groundOrder struct {
	auditlog.Event
	record auditlog.GroundRulesRecord
}

// groundReads is how many of the newest events about ground rules are looked through for one that the log's key has signed.
const groundReads = 20

// lastGround finds what the log names last as in force, and the order by which it is, if there is one. An event that the log's key has not
// signed says nothing.
func lastGround(ctx context.Context, port store.Port, key *auditlog.PublicKey) (last interlock.Digest, order groundOrder, err error) {
	entries, err := port.Entries(ctx, interlock.EventGroundRules, ledger.Before(-1, groundReads))
	if err != nil {
		return "", order, err
	}
	newest := -1
	for n := range entries {
		if newest < 0 || entries[n].Index > entries[newest].Index {
			if _, err := signedGround(key, entries[n]); err == nil {
				newest = n
			}
		}
	}
	if newest < 0 {
		return "", order, nil
	}
	found, err := signedGround(key, entries[newest])
	if err != nil || found.record.Order != nil || found.record.Ordered == "" {
		if found.record.Order == nil {
			return found.record.GroundRules, order, err
		}
		return found.record.GroundRules, found, err
	}
	entry, known, err := port.Entry(ctx, found.record.Ordered)
	if err == nil && known {
		order, err = signedGround(key, entry)
	}
	if err != nil || !known || order.record.Order == nil {
		return found.record.GroundRules, order, errGroundGone
	}
	return found.record.GroundRules, order, nil
}

func signedGround(key *auditlog.PublicKey, e interlock.Entry) (found groundOrder, err error) {
	if found.Event, err = key.SignedEvent(e); err == nil {
		found.record, err = auditlog.GroundRulesOf(found.Event)
	}
	return found, err
}

// errGroundGone says that no judge is asked because what it is to be held to can't be had.
var errGroundGone = interlock.Errorf(interlock.CodeUnavailable, "judge.rules",
	"the ground rules that an admin ordered last are missing from the store or damaged; an admin orders them anew with interlock judge rules adopt")

// text is what was ordered to be added to the rules that ship.
func (o *groundOrder) text(ctx context.Context, port store.Port) (string, error) {
	if o.record.Added == "" {
		return "", nil
	}
	text, found, err := port.Blob(ctx, admissionjudging.GroundText(o.Event))
	if err != nil || !found || auditlog.BlobDigest(text) != o.record.Added {
		return "", errGroundGone
	}
	return string(text), nil
}

// groundsWith is the digest of the ground rules that ship with those that a text adds, for carrying out an order about them.
func groundsWith(added string) (interlock.Digest, error) {
	whole, _, err := groundOf("the ground rules", []byte(added), added == "")
	if err != nil {
		return "", err
	}
	return whole.Digest(), nil
}

// GroundRules are the ground rules that are in force in this home now.
func (b *Backend) GroundRules(ctx context.Context) (Ground, error) {
	return groundInForce(ctx, b.Settings, b.Store, b.Key)
}

// GroundRulesNow are the ground rules in force in a home that may have no store yet.
func GroundRulesNow(ctx context.Context, c config.Config) (Ground, error) {
	if !store.Exists(c.Home) {
		text, absent, err := groundFile(c)
		if err != nil {
			return Ground{}, err
		}
		g := Ground{Text: text}
		g.Rules, g.Added, err = groundOf(c.Judge.RulesFile(c.Home), []byte(text), absent)
		return g, err
	}
	opened, sealer, err := openStore(ctx, c.Home, store.Options{Brief: true})
	if err != nil {
		return Ground{}, err
	}
	defer opened.Close()
	return groundInForce(ctx, c, opened, sealer.Public())
}

// GroundToOrder are the ground rules that a file adds to those that ship, and its text, as an order about them brings it. The file of the
// settings may be missing, which adds nothing; no other may.
func GroundToOrder(c config.Config, file string) (g Ground, err error) {
	if file == "" {
		absent := false
		if g.Text, absent, err = groundFile(c); err != nil {
			return g, err
		}
		g.Rules, g.Added, err = groundOf(c.Judge.RulesFile(c.Home), []byte(g.Text), absent)
		return g, err
	}
	text, err := readGround(file)
	if err != nil {
		return g, err
	}
	g.Text = string(text)
	g.Rules, g.Added, err = groundOf(file, text, false)
	return g, err
}
