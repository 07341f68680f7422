package governance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// OperatorTerms is the detail of an order about a person: what is to be so. What it leaves out stays as it is.
type OperatorTerms struct {
	Role      string               `json:"role,omitempty"`
	Teams     []string             `json:"teams,omitempty"`
	SSHKey    string               `json:"ssh_key,omitempty"` // in place of the one there is
	Enrolment *interlock.Enrolment `json:"enrolment,omitempty"`
	Passkey   string               `json:"remove_passkey,omitempty"` // its id, or [AllPasskeys]
}

// AllPasskeys, in an order, means every passkey of an operator. No passkey has it as its id.
const AllPasskeys = "*"

// AgentTerms is the detail of an order that registers an agent. The hash of its token goes beside the order, bound by Token: the
// log is read by more people than the store.
type AgentTerms struct {
	Type      string          `json:"type,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Trust     interlock.Trust `json:"trust"`
	Allow     []string        `json:"allow,omitempty"`
	Observer  bool            `json:"observer,omitempty"`
	Token     string          `json:"token,omitempty"` // digest of the token's hash
}

// BindToken is how an order names the hash of a token without telling it.
func BindToken(hash string) string {
	if hash == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("interlock/agent-token/v1\x00" + hash))
	return hex.EncodeToString(sum[:])
}

// Detail writes the terms of an order about a person or an agent as its detail.
func Detail[T OperatorTerms | AgentTerms | SettingsTerms | RequestTerms | privacy.Terms](terms T) (string, error) {
	text, err := json.Marshal(terms)
	return string(text), err
}

// TermsOf reads a detail. What has members that it can't have says something else than what would be done.
func TermsOf[T OperatorTerms | AgentTerms | SettingsTerms | RequestTerms | privacy.Terms](detail string) (terms T, err error) {
	if err := strictjson.Decode([]byte(detail), &terms); err != nil {
		return terms, interlock.Errorf(interlock.CodeInvalid, "detail", "the order does not say what is to be so")
	}
	return terms, nil
}

// readPeople names everybody: one name and one key are one person's, and somebody has to be left who governs.
func readPeople(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Under(ledger.Operator, ledger.All), core.Key(ledger.Agent, o.Subject),
		core.Key(ledger.Operator, o.Subject), core.Key(ledger.Setting, core.SettingRegistry)}
}

// FirstOperator makes the first person who governs. It is on nobody's order, so it is for a person at a terminal and is done
// once: not where anybody has ever governed. The settings that they were shown stand by their word.
func (a *Governance) FirstOperator(ctx context.Context, operator interlock.OperatorRecord, said SaidSettings) (ledger.Receipt,
	error) {
	return a.Commit(ctx, a.Rows(readPeople(interlock.Order{Subject: operator.Name})...),
		func(standing ledger.Standing) (ledger.Change, error) {
			if HasGovernor(standing) {
				return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "operator",
					"somebody governs here already; this takes an order that they sign")
			}
			if !quorum.Governs(operator.Role) {
				return ledger.Change{}, interlock.Errorf(interlock.CodeInvalid, "role",
					"the first operator governs: admin or superadmin")
			}
			if err := free(standing, operator.Name, operator.SSHKey); err != nil {
				return ledger.Change{}, err
			}
			rows, err := said.rows(operator)
			if err != nil {
				return ledger.Change{}, err
			}
			return a.identityChange(standing, auditlog.IdentityRecord{Operator: &operator, First: true, Settings: said.Detail},
				operator.Name, ledger.Change{Writes: append(ledger.Rows(operator), rows...)})
		})
}

// HasGovernor reports whether there is, or ever was, an operator who governs. standing holds all operators.
func HasGovernor(standing ledger.Standing) bool {
	for _, o := range standing.Operators { // any order: one is enough
		if quorum.Governs(o.Role) {
			return true
		}
	}
	return false
}

// free refuses a name or an SSH key that is somebody's.
func free(standing ledger.Standing, name, sshKey string) error {
	if err := interlock.CheckNotOwn("operator", name); err != nil {
		return err
	}
	if known, taken := standing.Operators[name]; taken && known.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "name",
			"an operator has this name; `interlock operator change` changes what is known of them")
	}
	if _, taken := standing.Agents[name]; taken {
		return interlock.Errorf(interlock.CodeConflict, "name", "an agent has this name; no identity is both")
	}
	return freeKey(standing, name, sshKey)
}

func freeKey(standing ledger.Standing, name, sshKey string) error {
	for _, other := range standing.Operators { // any order: a key has one owner at most
		if sshKey != "" && quorum.SameKey(other.SSHKey, sshKey) && other.Revoked.IsZero() && other.Name != name {
			return interlock.Errorf(interlock.CodeConflict, "ssh_key",
				"the key belongs to operator %s; one key is one person", other.Name)
		}
	}
	return nil
}

// addOperator registers a person.
func (a *Governance) addOperator(_ context.Context, c *core.PendingOrder) error {
	terms, err := TermsOf[OperatorTerms](c.Detail)
	switch {
	case err != nil:
		return err
	case !quorum.ValidRole(terms.Role) || terms.Passkey != "":
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the order names no role that there is")
	case terms.SSHKey == "" && terms.Enrolment == nil:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the order gives the person no way to answer")
	}
	if err := mayMake(c, "", terms.Role); err != nil {
		return err
	}
	if err := free(c.Standing, c.Subject, terms.SSHKey); err != nil {
		return err
	}
	return a.person(c, interlock.OperatorRecord{Name: c.Subject, Role: terms.Role, Teams: terms.Teams, SSHKey: terms.SSHKey,
		Enrolment: terms.Enrolment, Created: c.Now})
}

// changeOperator changes what is known of a person. Everybody may change their own keys; the rest is for who governs.
func (a *Governance) changeOperator(_ context.Context, c *core.PendingOrder) error {
	terms, err := TermsOf[OperatorTerms](c.Detail)
	if err != nil {
		return err
	}
	operator, known := c.Standing.Operators[c.Subject]
	if !known || !operator.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "no operator of this name is in office")
	}
	if terms.Role != "" || terms.Teams != nil || c.Subject != c.Operator {
		if err := mayMake(c, operator.Role, cmp.Or(terms.Role, operator.Role)); err != nil {
			return err
		}
	}
	switch {
	case terms.Role != "" && !quorum.ValidRole(terms.Role):
		return interlock.Errorf(interlock.CodeInvalid, "detail", "the order names no role that there is")
	case terms.Role != "" && quorum.Governs(operator.Role) && !quorum.Governs(terms.Role):
		if err := leavesGovernor(c); err != nil {
			return err
		}
	}
	if err := freeKey(c.Standing, c.Subject, terms.SSHKey); err != nil {
		return err
	}
	operator.Role, operator.SSHKey = cmp.Or(terms.Role, operator.Role), cmp.Or(terms.SSHKey, operator.SSHKey)
	if terms.Role != "" {
		operator.Since = c.Now
	}
	if terms.Teams != nil {
		operator.Teams = terms.Teams
	}
	if terms.Enrolment != nil {
		operator.Enrolment = terms.Enrolment
	}
	if terms.Passkey != "" {
		rest := slices.DeleteFunc(slices.Clone(operator.Passkeys),
			func(p interlock.Passkey) bool { return p.ID == terms.Passkey || terms.Passkey == AllPasskeys })
		if len(rest) == len(operator.Passkeys) {
			return interlock.Errorf(interlock.CodeNotFound, "id", "this operator has no passkey with this id")
		}
		operator.Passkeys = rest
		if !signs(operator) {
			if err := leavesGovernor(c); err != nil {
				return err
			}
		}
	}
	return a.person(c, operator)
}

// Lacks names the role that nobody in office has of the two that act together in an emergency, a superadmin and an admin; empty: none.
// standing holds all operators.
func Lacks(standing ledger.Standing) string {
	for _, role := range []string{quorum.RoleAdmin, quorum.RoleSuperadmin} {
		held := false
		for _, o := range standing.Operators { // any order: one is enough
			held = held || o.Role == role && o.Revoked.IsZero()
		}
		if !held {
			return role
		}
	}
	return ""
}

// mayMake refuses to make a superadmin of somebody, or something else of one, on the word of less than a superadmin. Where there is
// none, an admin makes another person the first: without one nobody could act in an emergency.
func mayMake(c *core.PendingOrder, was, role string) error {
	giver := c.Standing.Operators[c.Operator].Role
	if !quorum.Governs(giver) {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator", "this order needs an operator with the admin role")
	}
	first := was != quorum.RoleSuperadmin && c.Subject != c.Operator && Lacks(c.Standing) == quorum.RoleSuperadmin
	if (was == quorum.RoleSuperadmin || role == quorum.RoleSuperadmin) && giver != quorum.RoleSuperadmin && !first {
		return interlock.Errorf(interlock.CodeUnauthorized, "operator", "this order needs an operator with the superadmin role")
	}
	return nil
}

// leavesGovernor refuses what would leave nobody who governs: no order could ever be signed again.
func leavesGovernor(c *core.PendingOrder) error {
	if !quorum.Governs(c.Standing.Operators[c.Subject].Role) {
		return nil
	}
	for _, o := range c.Standing.Operators { // any order: one is enough
		if o.Name != c.Subject && o.Revoked.IsZero() && quorum.Governs(o.Role) && signs(o) {
			return nil
		}
	}
	return interlock.Errorf(interlock.CodeConflict, "subject",
		"nobody would be left who governs; add another admin first, who has a key or has registered a passkey")
}

// signs reports whether an operator has anything to sign with.
func signs(o interlock.OperatorRecord) bool { return o.SSHKey != "" || len(o.Passkeys) > 0 }

// revoke ends a person's or an agent's rights, from now on. What the person approved and nobody has spent yet counts no longer.
func (a *Governance) revoke(_ context.Context, c *core.PendingOrder) error {
	if operator, known := c.Standing.Operators[c.Subject]; known && operator.Revoked.IsZero() {
		if err := leavesGovernor(c); err != nil {
			return err
		}
		operator.Revoked, operator.Enrolment = c.Now, nil
		return a.person(c, operator)
	}
	agent, known := c.Standing.Agents[c.Subject]
	if !known || !agent.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "subject", "nobody of this name is in office")
	}
	agent.Revoked = c.Now
	return a.identified(c, auditlog.IdentityRecord{Agent: &agent}, ledger.Rows(agent))
}

// addAgent registers an agent.
func (a *Governance) addAgent(_ context.Context, c *core.PendingOrder) error {
	if err := interlock.CheckNotOwn("subject", c.Subject); err != nil {
		return err
	}
	terms, err := TermsOf[AgentTerms](c.Detail)
	switch {
	case err != nil:
		return err
	case terms.Trust > interlock.TrustValidated:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "%s is earned: the order may say validated at most", terms.Trust)
	case terms.Token != BindToken(c.Aside):
		return interlock.Errorf(interlock.CodeUnauthorized, "detail", "the order was signed for another token")
	}
	if known, taken := c.Standing.Agents[c.Subject]; taken && known.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "subject",
			"an agent has this name; revoke it first to give it a new token")
	}
	if _, taken := c.Standing.Operators[c.Subject]; taken {
		return interlock.Errorf(interlock.CodeConflict, "subject", "an operator has this name; no identity is both")
	}
	// one that is registered again is the module that it was: what people have bound it to is not for one admin to take back
	agent := interlock.AgentRecord{ID: c.Subject, Type: terms.Type, Principal: terms.Principal, Trust: terms.Trust,
		Allow: terms.Allow, Observer: terms.Observer, TokenHash: c.Aside, Created: c.Now, Module: c.Standing.Agents[c.Subject].Module}
	return a.identified(c, auditlog.IdentityRecord{Agent: &agent}, ledger.Rows(agent))
}

// person writes an operator as an order made them.
func (a *Governance) person(c *core.PendingOrder, operator interlock.OperatorRecord) error {
	return a.identified(c, auditlog.IdentityRecord{Operator: &operator}, ledger.Rows(operator))
}

// identified adds to the change who is known since an order, and what the registry is then.
func (a *Governance) identified(c *core.PendingOrder, record auditlog.IdentityRecord, rows []ledger.Row) error {
	order := a.OrderKept(c.Order)
	record.Order = &order
	payload, err := record.Payload()
	if err != nil {
		return fmt.Errorf("encoding the identity: %w", err)
	}
	draft, err := a.Draft(interlock.EventIdentity, interlock.Requester{Agent: c.Subject}, "operator", payload)
	if err != nil {
		return err
	}
	draft.Actor = c.Operator
	c.Change.Writes = rows
	if err := a.registered(&c.Change, c.Standing, &draft); err != nil {
		return err
	}
	c.Change.Events = append(c.Change.Events, draft)
	return nil
}
