package core

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A JudgeBudget bounds what judges may cost.
type JudgeBudget struct {
	ID       string        // in reasons and in the log
	Per      JudgePer      // whose questions are counted together
	Most     int64         // in millionths of one unit of the currency, such as millionths of a dollar
	Currency string        // ISO 4217; judges of other currencies are not counted by it
	Window   time.Duration // how far back it counts; 0: for ever
}

// JudgePer says whose questions a budget counts together.
type JudgePer string

// Whose. The zero value counts all of them.
const (
	JudgePerAll   JudgePer = ""
	JudgePerAgent JudgePer = "agent"
	JudgePerClass JudgePer = "class" // of what is done, such as "delete production"
)

// Key names what a budget has counted.
func (b *JudgeBudget) Key(agent, class string) string {
	parts := []string{"judge", b.ID}
	switch b.Per {
	case JudgePerAgent:
		parts = append(parts, agent)
	case JudgePerClass:
		parts = append(parts, class)
	}
	return ledger.UsageKey(parts...)
}

// JudgeLater says for which classes of action judges are heard afterwards, or for a share only. A class is a kind of impact and
// how far it reaches, such as "write workspace". An action is of no class that is named here unless all that it does is.
type JudgeLater struct {
	After  []string       // judged after they were let through
	Sample map[string]int // so many of a hundred are judged, 1 to 99
	Most   int            // so many judgments are owed at once, or about; over that judges are heard before
	Within time.Duration  // without an answer for so long, what was let through counts as denied
}

// A JudgeModel is which model a judge of the settings is.
type JudgeModel struct{ Judge, Model string }

// JudgeWhen says for which actions judges are heard where the profile does not want them heard for all.
type JudgeWhen string

// When judges are heard. The zero value is that of changes.
const (
	JudgeChanges JudgeWhen = "changes" // of whatever does more than read
	JudgeOutward JudgeWhen = "outward" // of what reaches beyond the workspace, or can't be undone
	JudgeAll     JudgeWhen = "all"
)

func (w JudgeWhen) Due(impacts []interlock.Impact) bool {
	return slices.ContainsFunc(impacts, func(i interlock.Impact) bool {
		switch {
		case w == JudgeAll || i.Confidence == interlock.Unknown:
			return true
		case w == JudgeOutward:
			return i.Reversibility == interlock.Irreversible || i.Reversibility != interlock.Readonly &&
				i.Reach != interlock.ReachWorkspace
		}
		return i.Reversibility != interlock.Readonly
	}) || w == JudgeAll
}
