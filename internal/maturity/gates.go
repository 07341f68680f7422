package maturity

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// What the gates ask for.
const (
	daysManaged    = 90
	daysAutonomous = 180
	quiet          = 60 * day // without a stop
	mostRefused    = 5.0      // per cent of the answers
)

func gate(from, to int, indicators []Indicator) Gate {
	return Gate{From: from, To: to, Open: allMet(indicators), Indicators: indicators}
}

func logged(days, least int) Indicator {
	return is(fmt.Sprintf("%d days of logged operation", least), days >= least, "%d days", days)
}

// stops counts those within a time that were no drills.
func stops(b *Book, now time.Time) (real, drills int) {
	for _, s := range b.Stops {
		switch {
		case s.Drill:
			drills++
		case now.Sub(s.At) <= quiet:
			real++
		}
	}
	return real, drills
}

// signedOff looks for the order of a risk owner by which the rules of a tier came into force.
func signedOff(h Home, b *Book, tier int) Indicator {
	name := fmt.Sprintf("a risk owner has signed for tier %d", tier)
	about := regexp.MustCompile(`(?i)\btier ` + strconv.Itoa(tier) + `\b`)
	for n := len(b.Orders) - 1; n >= 0; n-- {
		o := b.Orders[n]
		if role := h.Roles[o.Operator]; about.MatchString(o.Reason) && (role == "superadmin" || role == "council") {
			return is(name, true, "%s, %s, on %s: %s", o.Operator, role, o.At.UTC().Format("2006-01-02"), o.Reason)
		}
	}
	return is(name, false, "no superadmin or member of the council has put rules in force with a reason that says tier %d (interlock rules adopt)", tier)
}

func toManaged(h Home, b *Book, days int) []Indicator {
	refused := unknown("people refuse less than 5 % of what is asked", "nobody has answered anything")
	if answers := b.Yes + b.No; answers > 0 {
		refused = is(refused.Name, share(b.No, answers) < mostRefused, "%d of %d answers (%.1f %%)", b.No, answers, share(b.No, answers))
	}
	real, drills := stops(b, h.Now)
	return []Indicator{logged(days, daysManaged), refused,
		is("no emergency stop within 60 days", real == 0 && days >= int(quiet/day),
			"%d stops, besides %d drills, within %d days of log", real, drills, days),
		signedOff(h, b, 2)}
}

func toAutonomous(h Home, b *Book, days int) []Indicator {
	_, drills := stops(b, h.Now)
	return []Indicator{logged(days, daysAutonomous),
		unknown("the judge misses less than 2 % and objects wrongly to less than 10 %, over 90 days", noJudge),
		unknown("drift is detected in all high and critical cases", "which cases there were is not in the log"),
		unknown("the kill switch is proved at peak load", fmt.Sprintf("%d drills are in the log, and not how much went on", drills)),
		unknown("a red team's findings are closed", "red teams are not in the log; interlock conformance maso has checks of ours"),
		signedOff(h, b, 3)}
}
