package quorum

import (
	"cmp"
	"strings"

	"interlock"
)

// A Class says of one kind of governed action what it takes (MACE safety boundaries 2, governance).
type Class struct {
	Type     string // of [interlock.GovernedAction]
	Class    int
	Approval string
	Says     string // what it is, for people
}

// The governed actions that Interlock carries out itself or knows by name.
const (
	ActStable          = "sem_write"
	ActStableDelete    = "sem_delete"
	ActPromotion       = "episodic_promotion"
	ActQuarantine      = "module_quarantine"
	ActUnquarantine    = "module_unquarantine"
	ActQuarantineNow   = "quarantine_module_immediate"
	ActHaltReplays     = "halt_replays"
	ActFreezeSnapshots = "freeze_snapshot_registry"
	ActClearHalt       = "force_halt_clear"
	ActReview          = "emergency_review"
	ActConstant        = "governance_constant"
	ActPolicy          = "governance_policy"
	ActRoster          = "council_roster"
	ActRegister        = "module_register"
	ActTrust           = "trust_bulk_override"
	ActOverride        = "safety_override"
	ActTextReview      = "safety_review"
	ActDeletePerson    = "dsr_delete"
	ActKeepPersonal    = "pii_store"
)

// Classes lists the governed actions that are known by name. One that is not listed is high risk.
func Classes() []Class {
	const low, medium, high, now = interlock.ApprovalAdmin, interlock.ApprovalNotify, interlock.ApprovalCouncil, interlock.ApprovalDual
	return []Class{
		{ActRegister, 1, low, "register a module that writes no stable facts"},
		{"maintenance_toggle", 1, low, "switch maintenance on or off"},

		{interlock.ActModuleAction, 2, medium, "allow a module an action that is not a write of stable facts"},
		{interlock.ActModuleBudget, 2, medium, "let a module exceed its budget"},

		{ActStable, 3, high, "write a stable fact"},
		{ActStableDelete, 3, high, "delete a stable fact"},
		{ActPromotion, 3, high, "promote sensitive episodic content to a stable fact"},
		{ActQuarantine, 3, high, "quarantine a module"},
		{ActUnquarantine, 3, high, "end a module's quarantine"},
		{interlock.ActModuleCode, 3, high, "a module's change of itself"},
		{"code_upload", 3, high, "upload code of a module"},
		{"model_change", 3, high, "retrain or replace a model, or roll one out"},
		{"training_pipeline", 3, high, "run a training pipeline"},
		{ActConstant, 3, high, "change a constant of governance"},
		{ActPolicy, 3, high, "change the rules"},
		{ActRoster, 3, high, "change who governs, votes or audits"},
		{ActTrust, 3, high, "override the trust of many modules"},
		{interlock.ActService, 3, high, "enable a feature that sends user data to an external service"},
		{ActDeletePerson, 3, high, "delete a person's data for good"},
		{ActKeepPersonal, 3, high, "keep a person's most sensitive data, to which they have consented"},
		{ActOverride, 3, high, "set one safety rule aside for one job"},
		{ActClearHalt, 3, high, "clear what was halted"},
		{ActReview, 3, high, "review an emergency override"},
		{ActTextReview, 3, high, "release the parts of a text that the classifier left out"},

		{ActHaltReplays, 4, now, "halt all replays"},
		{ActQuarantineNow, 4, now, "quarantine a module at once"},
		{ActFreezeSnapshots, 4, now, "freeze rules and settings as they are"},
	}
}

// ClassOf is what a governed action takes. Of what nobody knows, a quorum of the council.
func ClassOf(kind string) Class {
	for _, c := range Classes() {
		if c.Type == kind {
			return c
		}
	}
	return Class{Type: kind, Class: 3, Approval: interlock.ApprovalCouncil, Says: kind}
}

// approvalSpellings are the spellings that the companions of MACE use for one thing each.
var approvalSpellings = map[string]string{
	"admin-single": interlock.ApprovalAdmin, "single-admin": interlock.ApprovalAdmin, "single_admin": interlock.ApprovalAdmin,
	"admin-notify-council": interlock.ApprovalNotify, "council-quorum": interlock.ApprovalCouncil,
	"superadmin-dual": interlock.ApprovalDual,
}

// ApprovalFor is what a request for an action takes that may itself say so, in either spelling. It may ask for the council where less
// would do, and never for less than the table says. A safety rule is set aside by the council or by a superadmin with an admin (MACE 11).
func ApprovalFor(c Class, asked string) (string, error) {
	asked = cmp.Or(approvalSpellings[strings.ToLower(asked)], strings.ToLower(asked), c.Approval)
	switch {
	case asked == c.Approval, asked == interlock.ApprovalCouncil && c.Class < 3, asked == interlock.ApprovalNotify && c.Class == 1,
		asked == interlock.ApprovalDual && c.Type == ActOverride:
		return asked, nil
	case asked != interlock.ApprovalAdmin && asked != interlock.ApprovalNotify && asked != interlock.ApprovalCouncil &&
		asked != interlock.ApprovalDual:
		return "", refuse(interlock.CodeInvalid, "required_approval_type",
			"is not known; name admin_single, admin_notify_council, council_quorum or superadmin_dual")
	}
	return "", refuse(interlock.CodeUnauthorized, "required_approval_type", "this action takes "+c.Approval+", and no less")
}

// electing reports whether a role may vote where an approval of this type is wanted.
func electing(approval, role string) bool {
	switch approval {
	case interlock.ApprovalCouncil:
		return role == RoleCouncil
	case interlock.ApprovalAdmin, interlock.ApprovalNotify, interlock.ApprovalDual:
		return roleGoverns(role)
	}
	return false
}
