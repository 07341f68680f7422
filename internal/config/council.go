package config

import (
	"time"

	"interlock"
)

// A Council has the constants of governance. What is zero is as [Council.Terms] says.
type Council struct {
	Quorum  int      `json:"quorum"`
	Window  Duration `json:"vote_window"`
	Timeout Duration `json:"request_timeout"`
	Wait    Duration `json:"approval_wait"`
	Review  Duration `json:"review_window"`
	Audit   Duration `json:"audit_window"`
	Governs bool     `json:"governs"`
	Second  bool     `json:"second_factor"` // admins, superadmins and members of the council sign with two factors
}

// The bounds of the constants.
const (
	councilMost = 30 * 24 * time.Hour
	auditMost   = 366 * 24 * time.Hour
	maxRoster   = 25
)

// Terms are the constants with their defaults.
func (c Council) Terms() interlock.CouncilTerms {
	return interlock.CouncilTerms{Quorum: c.Quorum, Window: time.Duration(c.Window), Timeout: time.Duration(c.Timeout),
		Wait: time.Duration(c.Wait), Review: time.Duration(c.Review), Audit: time.Duration(c.Audit), Governs: c.Governs,
		Second: c.Second}.Filled()
}

func (c Council) check() error {
	t := c.Terms()
	switch {
	case t.Quorum < 2 || t.Quorum > maxRoster:
		return interlock.Errorf(interlock.CodeInvalid, "council.quorum", "must be from 2 to %d", maxRoster)
	case t.Window < time.Minute || t.Window > councilMost:
		return interlock.Errorf(interlock.CodeInvalid, "council.vote_window", "must be from 1m to %s", councilMost)
	case t.Timeout < t.Window || t.Timeout > councilMost:
		return interlock.Errorf(interlock.CodeInvalid, "council.request_timeout",
			"must be no shorter than council.vote_window (%s) and at most %s", t.Window, councilMost)
	case t.Wait >= t.Timeout:
		return interlock.Errorf(interlock.CodeInvalid, "council.approval_wait",
			"must be shorter than council.request_timeout (%s): nothing could be carried out in time", t.Timeout)
	case t.Review < time.Minute || t.Review > councilMost:
		return interlock.Errorf(interlock.CodeInvalid, "council.review_window", "must be from 1m to %s", councilMost)
	case t.Audit < time.Hour || t.Audit > auditMost:
		return interlock.Errorf(interlock.CodeInvalid, "council.audit_window", "must be from 1h to %s", auditMost)
	}
	return nil
}
