package console

import (
	"net/http"

	"interlock"
	"interlock/internal/quorum"
)

// A right is something a role may do here. What counts is decided behind the Backend once more; this keeps people from
// reading and trying what is not theirs.
type right uint8

// The rights.
const (
	seeing    right = 1 << iota // what was decided, without the words of the actions
	reading                     // those words too
	auditing                    // every event of the log, its export and its verification
	answering                   // answer requests, have codes shown, lower trust, revoke grants, approve and quarantine tools
	governing                   // lift blocks, raise trust
	ordering                    // give any order at all; which of them is a matter of each, see rightFor
)

// rightsOf lists what each role may do. A role nobody knows may do nothing.
func rightsOf(role string) right {
	switch role {
	case quorum.RoleViewer:
		return seeing
	case quorum.RoleCouncil:
		return seeing | reading | ordering // names what an emergency came of, and leaves it
	case quorum.RoleAuditor:
		return seeing | reading | auditing
	case quorum.RoleOperator:
		return seeing | reading | answering | ordering
	case quorum.RoleAdmin, quorum.RoleSuperadmin:
		return seeing | reading | auditing | answering | governing | ordering
	default:
		return 0
	}
}

// A view is one address of the console and the right it takes.
type view struct {
	pattern string
	needs   right
	handler http.HandlerFunc
}

// views are the pages about what happens and the orders given on them. Signing in and answering have routes of their own.
func (c *Console) views() []view {
	return []view{
		{"GET /{$}", seeing, c.overviewPage},
		{"GET /feed", seeing, c.feedPage},
		{"GET /feed/stream", seeing, c.feedStream},
		{"GET /decisions/{id}", seeing, c.decisionPage},
		{"GET /events/{id}/receipt", seeing, c.receipt},
		{"GET /agents", seeing, c.agentsPage},
		{"GET /challenges", seeing, c.challengesPage},
		{"GET /trust", seeing, c.trustPage},
		{"GET /tools", seeing, c.toolsPage},
		{"GET /tools/show", seeing, c.toolPage},
		{"GET /grants", seeing, c.grantsPage},
		{"POST /grants/{id}/end", answering, c.endGrant},
		{"GET /system/orders", ordering, c.ordersPage},
		{"GET /orders/new", ordering, c.draftOrder},
		{"POST /orders/{id}", ordering, c.giveOrder},
		{"GET /rules", seeing, c.rulesPage},
		{"GET /rules/{id}", seeing, c.rulePage},
		{"GET /rules/past", seeing, c.pastPage},
		{"POST /rules/{id}/suppress", reading | answering, c.draftSuppression},
		{"POST /suppressions/{id}/lift", answering, c.liftSuppression},
		{"GET /rules/try", reading, c.tryPage},
		{"POST /rules/try", reading, c.tryAction},
		{"GET /audit", auditing, c.auditPage},
		{"GET /events/{id}", auditing, c.eventPage},
		{"GET /rollback/plan", auditing, c.planRollback},
		{"GET /audit/export", auditing, c.exportLog},
		{"POST /audit/verify", auditing, c.verifyLog},
		{"GET /system", seeing, c.systemPage},
		{"GET /system/phases", seeing, c.phasesPage},
		{"GET /system/limits", seeing, c.limitsPage},
		{"GET /system/judges", seeing, c.judgesPage},
		{"GET /system/privacy", reading, c.privacyPage},
		{"GET /system/memory", reading, c.memoryPage},
		{"GET /system/plans", seeing, c.plansPage},
		{"GET /system/plans/{id}", seeing, c.planPage},
		{"GET /system/rollbacks", seeing, c.rollbacksPage},
		{"GET /system/rollbacks/new", auditing, c.rollbackPlanPage},
		{"GET /system/rollbacks/{id}", seeing, c.rollbackPage},
		{"GET /system/probes", auditing, c.probesPage},
		{"POST /system/probes", auditing, c.countProbes},
		{"GET /agents/timeline", seeing, c.timelinePage},
		{"GET /grants/range", reading | answering, c.rangePage},
		{"POST /grants/range", reading | answering, c.draftRange},
	}
}

// rights are what somebody may do here now. An auditor whose time is over sees what a viewer does.
func (c *Console) rights(o interlock.OperatorRecord) right {
	if quorum.MayAudit(o, c.config.Backend.Council().Audit, c.config.Now()) != nil {
		return rightsOf(quorum.RoleViewer)
	}
	return rightsOf(o.Role)
}

// audited records that an auditor opens a page whose words are not left out, before they see it.
func (c *Console) audited(r *http.Request, o interlock.OperatorRecord) error {
	if o.Role != quorum.RoleAuditor || c.rights(o)&reading == 0 {
		return nil
	}
	return c.config.Backend.RecordAccess(r.Context(), o.Name, r.Method+" "+r.URL.Path)
}

// may reports whether the person signed in has a right.
func (c *Console) may(r *http.Request, needs right) bool {
	operator, in := c.operator(r)
	return in && c.rights(operator)&needs == needs
}

// entitled lets those who have the right through. A try to act without it is recorded and alerted, as it is behind the Backend.
func (c *Console) entitled(needs right, next http.HandlerFunc) http.Handler {
	return c.signedIn(func(w http.ResponseWriter, r *http.Request) {
		if c.may(r, needs) {
			next(w, r)
			return
		}
		operator, _ := c.operator(r)
		err := interlock.Errorf(interlock.CodeUnauthorized, "role", "the role %s may not do this", operator.Role)
		if r.Method == http.MethodPost {
			c.alert(r, operator.Name, err)
		}
		c.fail(w, r, err)
	})
}
