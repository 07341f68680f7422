package strictjson

import (
	"crypto/sha256"

	"interlock"
)

const snapshotDomain = "interlock/snapshot/v1"

// SnapshotDigest returns the digest of a snapshot.
func SnapshotDigest(s *interlock.Snapshot) (interlock.Digest, error) {
	w := borrow()
	defer w.giveBack()
	w.Bytes = append(append(w.Bytes, snapshotDomain...), '\n')
	w.Snapshot(s)
	if w.GaveUp {
		general := *s // of its own, so that most snapshots need not be put where values of any type go
		return Digest(snapshotDomain, &general)
	}
	return digestText(sha256.Sum256(w.Bytes)), nil
}

// Snapshot writes the canonical form by hand, members in order; a test holds it to what Marshal would write.
func (w *Writer) Snapshot(s *interlock.Snapshot) {
	w.Open()
	w.Name("agent")
	w.agent(&s.Agent)
	w.Name("attended")
	w.Bool(s.Attended)
	if len(s.Authors) > 0 {
		w.Name("authors")
		w.General(s.Authors)
	}
	w.OptionalString("block", s.Block)
	if len(s.Danger) > 0 {
		w.Name("danger")
		List(w, s.Danger, (*Writer).danger)
	}
	if s.Failed != nil {
		w.Name("failed")
		w.General(s.Failed)
	}
	if len(s.Grants) > 0 {
		w.Name("grants")
		w.General(s.Grants)
	}
	w.Judgments("judgments", s.Judgments)
	if s.Loop != nil {
		w.Name("loop")
		w.General(s.Loop)
	}
	w.Name("mode")
	w.Named(s.Mode)
	if s.Origin != nil {
		w.Name("origin")
		w.General(s.Origin)
	}
	if s.Pin != nil {
		w.Name("pin")
		w.Pin(s.Pin)
	}
	w.Name("profile")
	w.String(s.Profile)
	if len(s.Recent) > 0 {
		w.Name("recent")
		List(w, s.Recent, (*Writer).PastAction)
	}
	if s.Run != nil {
		w.Name("run")
		w.General(s.Run)
	}
	if s.Sandboxed {
		w.Name("sandboxed")
		w.Bool(true)
	}
	if len(s.Suppressions) > 0 {
		w.Name("suppressions")
		List(w, s.Suppressions, (*Writer).suppression)
	}
	if !s.Taken.IsZero() {
		w.Name("taken")
		w.Time(s.Taken)
	}
	if s.Upstream != nil {
		w.Name("upstream")
		w.Upstream(s.Upstream)
	}
	w.Name("version")
	w.Int(s.Version)
	w.Name("view")
	w.view(&s.View)
	w.Close()
}

func (w *Writer) agent(a *interlock.AgentRecord) {
	w.Open()
	w.OptionalStrings("allow", a.Allow)
	w.Name("created")
	w.Time(a.Created)
	w.Name("id")
	w.String(a.ID)
	if a.Observer {
		w.Name("observer")
		w.Bool(true)
	}
	w.OptionalString("principal", a.Principal)
	if !a.Revoked.IsZero() {
		w.Name("revoked")
		w.Time(a.Revoked)
	}
	w.OptionalString("token_hash", a.TokenHash)
	w.Name("trust")
	w.Named(a.Trust)
	if !a.Until.IsZero() {
		w.Name("trust_until")
		w.Time(a.Until)
	}
	w.OptionalString("type", a.Type)
	w.Close()
}

// Pin writes a value.
func (w *Writer) Pin(p *interlock.Pin) {
	w.Open()
	w.OptionalString("by", p.By)
	w.OptionalString("definition", string(p.Definition))
	w.OptionalString("detail", p.Detail)
	if len(p.Former) > 0 {
		w.Name("former")
		w.General(p.Former)
	}
	w.OptionalString("identity", string(p.Identity))
	w.OptionalStrings("lists", p.Lists)
	if len(p.Places) > 0 {
		w.Name("places")
		w.General(p.Places)
	}
	w.OptionalString("seen", string(p.Seen))
	w.OptionalString("seen_from", string(p.SeenFrom))
	w.Name("server")
	w.String(p.Server)
	if !p.Since.IsZero() {
		w.Name("since")
		w.Time(p.Since)
	}
	w.Name("status")
	w.String(string(p.Status))
	w.OptionalString("tool", p.Tool)
	w.OptionalString("why", string(p.Why))
	w.Close()
}

// Upstream writes a value.
func (w *Writer) Upstream(u *interlock.Upstream) {
	w.Open()
	w.OptionalString("definition", string(u.Definition))
	w.Name("identity")
	w.String(string(u.Identity))
	w.Name("server")
	w.String(u.Server)
	w.OptionalString("tool", u.Tool)
	w.Close()
}

func (w *Writer) danger(d *interlock.DangerRule) {
	w.Open()
	w.Name("level")
	w.Named(d.Level)
	w.Name("name")
	w.String(d.Name)
	w.Close()
}

func (w *Writer) suppression(s *interlock.Suppression) {
	w.Open()
	w.OptionalString("agent", s.Agent)
	w.OptionalString("command", s.Command)
	w.Name("created")
	w.Time(s.Created)
	if s.Denials {
		w.Name("denials")
		w.Bool(true)
	}
	w.Name("expires")
	w.Time(s.Expires)
	w.Name("id")
	w.String(s.ID)
	w.OptionalString("key", s.Key)
	w.OptionalString("method", s.Method)
	w.Name("operator")
	w.String(s.Operator)
	w.OptionalString("path", s.Path)
	w.Name("reason")
	w.String(s.Reason)
	w.Name("rule")
	w.String(s.Rule)
	w.OptionalString("signature", s.Signature)
	w.OptionalString("statement", s.Statement)
	w.OptionalString("weak", s.Weak)
	w.Close()
}

// PastAction writes a value.
func (w *Writer) PastAction(p *interlock.PastAction) {
	w.Open()
	w.Name("at")
	w.Time(p.At)
	w.Name("impacts")
	List(w, p.Impacts, (*Writer).Impact)
	w.Name("kind")
	w.String(string(p.Kind))
	w.Close()
}

// Impact writes a value.
func (w *Writer) Impact(i *interlock.Impact) {
	w.Open()
	w.optionalInt("amount", i.Amount)
	w.optionalInt("bytes", i.Bytes)
	w.Name("confidence")
	w.String(string(i.Confidence))
	w.OptionalString("currency", i.Currency)
	w.Name("kind")
	w.String(string(i.Kind))
	w.optionalInt("money", i.Money)
	w.Name("reach")
	w.String(string(i.Reach))
	w.optionalInt("recipients", i.Recipients)
	w.optionalInt("records", i.Records)
	w.Name("reversibility")
	w.String(string(i.Reversibility))
	w.OptionalString("target", i.Target)
	w.OptionalStrings("traits", i.Traits)
	w.OptionalString("via", i.Via)
	w.Close()
}

func (w *Writer) view(v *interlock.View) {
	w.Open()
	if a := v.Annotations; a != nil {
		w.Name("annotations")
		w.Open()
		w.optionalBool("destructiveHint", a.Destructive)
		w.optionalBool("idempotentHint", a.Idempotent)
		w.optionalBool("openWorldHint", a.OpenWorld)
		w.optionalBool("readOnlyHint", a.ReadOnly)
		w.Close()
	}
	w.OptionalStrings("endpoints", v.Endpoints)
	w.OptionalStrings("fetched", v.Fetched)
	w.OptionalString("home", v.Home)
	w.OptionalMap("links", v.Links)
	w.OptionalStrings("production", v.Production)
	w.OptionalMap("scripts", v.Scripts)
	w.OptionalStrings("self", v.Self)
	w.OptionalStrings("staging", v.Staging)
	w.OptionalString("user", v.User)
	if len(v.Work) > 0 {
		w.Name("work")
		w.General(v.Work)
	}
	w.OptionalString("workspace", v.Workspace)
	w.OptionalStrings("written", v.Written)
	w.Close()
}

func (w *Writer) optionalInt(name string, value int64) {
	if value != 0 {
		w.Name(name)
		w.Int(value)
	}
}

func (w *Writer) optionalBool(name string, value *bool) {
	if value != nil {
		w.Name(name)
		w.Bool(*value)
	}
}
