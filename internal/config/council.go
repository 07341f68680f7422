package config

import (
	"cmp"
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
	Governs bool     `json:"governs"`
}

// The constants where nothing is set.
const (
	councilQuorum  = 3
	councilWindow  = 24 * time.Hour
	councilTimeout = 72 * time.Hour
	councilWait    = 24 * time.Hour
	councilReview  = 72 * time.Hour
	councilMost    = 30 * 24 * time.Hour
	maxRoster      = 25
)

// Terms are the constants with their defaults.
func (c Council) Terms() interlock.CouncilTerms {
	return interlock.CouncilTerms{Quorum: cmp.Or(c.Quorum, councilQuorum), Window: cmp.Or(time.Duration(c.Window), councilWindow),
		Timeout: cmp.Or(time.Duration(c.Timeout), councilTimeout), Wait: cmp.Or(time.Duration(c.Wait), councilWait),
		Review: cmp.Or(time.Duration(c.Review), councilReview), Governs: c.Governs}
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
	}
	return nil
}
