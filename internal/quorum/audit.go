package quorum

import (
	"time"

	"interlock"
)

// MayAudit refuses an auditor whose time to read unredacted is over: it begins when they are given the role, and is as long as the
// constants of governance say (MACE governance, roles). Of any other role it says nothing.
func MayAudit(o interlock.OperatorRecord, within time.Duration, now time.Time) error {
	since := o.Since
	if since.IsZero() {
		since = o.Created
	}
	if o.Role != RoleAuditor || now.Before(since.Add(within)) {
		return nil
	}
	return refuse(interlock.CodeExpired, "operator", "this auditor's time to read unredacted is over; they are given the role again by: "+
		"interlock operator change "+o.Name+" --role auditor")
}
