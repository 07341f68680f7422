package ledger

import (
	"math"
	"strings"
	"time"

	"interlock"
	"interlock/internal/anomaly"
	"interlock/internal/memory"
	"interlock/internal/origin"
	"interlock/internal/phase"
	"interlock/internal/privacy"
)

// Kinds lists every kind of row, in the order that migrations and standings are filled in.
func Kinds() []Kind {
	return []Kind{
		row[interlock.AgentRecord]{key: func(a interlock.AgentRecord) string { return a.ID }, marks: agentMarks, binding: true,
			into:  func(a interlock.AgentRecord, to *Standing) { put(&to.Agents, a.ID, a) },
			owner: owners[interlock.AgentRecord]{each: ownerAgent, marks: markOwners{All: several, "token": several}}}.
			kind(Kind{Name: Agent, Writer: ByOrder, Proved: "an IDENTITY_CHANGE or TRUST_CHANGE entry", Lives: "for ever, revoked or not",
				stands: true}),
		row[interlock.OperatorRecord]{key: func(o interlock.OperatorRecord) string { return o.Name }, binding: true,
			marks: func(o interlock.OperatorRecord) []Mark { return withAll(nano(o.Created)) },
			into:  func(o interlock.OperatorRecord, to *Standing) { put(&to.Operators, o.Name, o) },
			owner: owners[interlock.OperatorRecord]{all: ownerOperator, marks: markOwners{All: one(ownerOperator)}}}.
			kind(Kind{Name: Operator, Writer: ByOrder, Proved: "an IDENTITY_CHANGE entry", Lives: "for ever, revoked or not",
				stands: true}),
		row[interlock.ApprovalRequest]{key: func(r interlock.ApprovalRequest) string { return r.ID }, marks: requestMarks,
			binds: requestBinds, left: requestLeft, stands: requestStands, check: answeredBySomebody, next: requestNext,
			into: func(r interlock.ApprovalRequest, to *Standing) { put(&to.Requests, r.ID, r) },
			owner: owners[interlock.ApprovalRequest]{of: func(r interlock.ApprovalRequest) string {
				return ownerAgent + r.Requester.Agent
			},
				marks: markOwners{"of": ofAgent, "by": several, "is": several, All: several, BallotDue: several, Harnessed: several,
					ReviewDue: several}}}.
			kind(Kind{Name: Request, Writer: ByAction, Proved: "the signatures of its approvals", Lives: "for ever, open until it ends",
				take: requestTake, again: true, stands: true}),
		row[any]{key: orderKey, marks: orderMarks, binding: true, left: orderLeft, stands: orderStands, decode: readOrder,
			into: orderInto,
			owner: owners[any]{of: orderOwner, marks: markOwners{"of": ofAgent, "range": prefixed(ownerRange), "verb": ofVerb,
				All: several}}}.
			kind(Kind{Name: Order, Writer: ByOrder, Proved: "its own signature", Lives: "until it is used up or ended", take: orderTake,
				again: true, stands: true}),
		row[interlock.Challenge]{key: func(c interlock.Challenge) string { return c.ID }, marks: challengeMarks, binding: true,
			stands: challengeStands, into: func(c interlock.Challenge, to *Standing) { put(&to.Challenges, c.ID, c) },
			owner: owners[interlock.Challenge]{of: func(c interlock.Challenge) string { return ownerAgent + c.Requester.Agent },
				marks: markOwners{"of": ofAgent, All: several, Pauses: several, "waits": several}}}.
			kind(Kind{Name: Challenge, Writer: ByAction, Lives: "until it has ended", stands: true}),
		row[AttemptsBody]{key: func(a AttemptsBody) string { return AttemptsKey(a.Agent, a.Principal) }, marks: attemptsMarks,
			binding: true,
			stands:  attemptsStands, into: func(a AttemptsBody, to *Standing) { put(&to.Attempts, AttemptsKey(a.Agent, a.Principal), a) },
			owner: owners[AttemptsBody]{of: func(a AttemptsBody) string { return ownerAgent + a.Agent },
				key: func(key string) string { return ownerAgent + first(key) }, marks: markOwners{All: several}}}.
			kind(Kind{Name: Attempts, Writer: ByAction, Lives: "until the window is over", stands: true}),
		row[interlock.Pin]{key: func(p interlock.Pin) string { return PinKey(p.Server, p.Tool) }, marks: pinMarks, binding: true,
			into: func(p interlock.Pin, to *Standing) { put(&to.Pins, PinKey(p.Server, p.Tool), p) },
			owner: owners[interlock.Pin]{of: func(p interlock.Pin) string { return ownerServer + p.Server },
				key:   func(key string) string { return ownerServer + first(key) },
				marks: markOwners{"server": prefixed(ownerServer), All: several, Held: several}}}.
			kind(Kind{Name: Pin, Writer: ByGateway, Proved: "a TOOL_PIN entry", Lives: "for ever", stands: true}),
		{Name: Definition, Writer: ByGateway, Proved: "the digest in its pin", Lives: "for ever, with the tool",
			owner:    func(key any) string { return ownerDefinition + key.(string) },
			keyOwner: func(key string) string { return ownerDefinition + key }, markOwners: markOwners{All: several}},
		row[settingBody]{key: func(s settingBody) string { return s.Name }, binding: true,
			marks: func(settingBody) []Mark { return withAll(0) },
			into:  func(s settingBody, to *Standing) { put(&to.Settings, s.Name, s.Value) },
			owner: owners[settingBody]{all: ownerSetting, marks: markOwners{All: one(ownerSetting)}}}.
			kind(Kind{Name: Setting, Writer: ByStart, Proved: "a RULESET_CHANGE or MODE_CHANGE entry", Lives: "for ever", stands: true}),
		row[CounterBody]{key: func(c CounterBody) string { return c.Name }, left: func(c CounterBody) int { return c.Left },
			owner: owners[CounterBody]{each: ownerCounter, marks: markOwners{All: several}}}.
			kind(Kind{Name: Counter, Writer: ByAction, Lives: "for ever", take: counterTake}),
		row[Done]{key: func(d Done) string { return ExecutionKey(d.Principal, d.Agent, d.Run) }, next: executionNext,
			until: func(d Done) int64 { return nano(d.Seen.Add(IdleExecution)) }}.
			kind(Kind{Name: Execution, Writer: ByAction, Lives: "an hour after its last step", swept: true}),
		// an order to promote the one before must not stand
		row[CandidateBody]{key: func(c CandidateBody) string { return c.Name }, binding: true,
			owner: owners[CandidateBody]{all: ownerCandidate, marks: markOwners{All: one(ownerCandidate)}}}.
			kind(Kind{Name: Candidate, Writer: ByOrder, Proved: "a RULESET_SHADOW entry", Lives: "until it is stopped, promoted " +
				"or replaced", ended: true}),
		row[ShadowBody]{key: func(s ShadowBody) string { return string(s.Ruleset) },
			until: func(s ShadowBody) int64 { return nano(s.To.Add(shadowLife)) }}.
			kind(Kind{Name: Shadow, Writer: ByAction, Lives: "30 days after its last decision", swept: true, note: true}),
		row[CallBody]{key: func(c CallBody) string { return c.EventID }, marks: callMarks}.
			kind(Kind{Name: Call, Writer: ByAction, Lives: "a day", filed: true, note: true, keyed: callOf}),
		row[RecentBody]{key: func(r RecentBody) string { return r.Run }, marks: recentMarks}.
			kind(Kind{Name: Recent, Writer: ByAction, Lives: "half an hour after the run's last action", swept: true,
				merge: merging(recentMerge)}),
		row[WrittenBody]{key: func(w WrittenBody) string { return w.File },
			until: func(w WrittenBody) int64 { return nano(w.At.Add(interlock.WrittenWindow)) }}.
			kind(Kind{Name: Written, Writer: ByAction, Lives: "a day", swept: true, merge: merging(writtenMerge)}),
		row[HeardBody]{key: func(h HeardBody) string { return h.Run },
			until: func(h HeardBody) int64 { return nano(h.At.Add(origin.HeardWindow)) }}.
			kind(Kind{Name: Heard, Writer: ByAction, Lives: "a day after the run heard anything last", swept: true, note: true,
				most: maxHeard}),
		row[AgainBody]{key: func(a AgainBody) string {
			return a.Event
		}, until: func(a AgainBody) int64 { return nano(a.At.Add(time.Hour)) }}.
				kind(Kind{Name: Again, Writer: ByAction, Lives: "an hour", swept: true, note: true}),
		row[FailedBody]{key: func(f FailedBody) string { return FailedKey(f.Principal, f.Agent) },
			until: func(f FailedBody) int64 { return nano(f.Seen.Add(interlock.RetryWindow)) }}.
			kind(Kind{Name: Failed, Writer: ByGateway, Lives: "ten minutes after its agent's last failure", swept: true,
				merge: merging(FailedBody.With)}),
		row[SignalBody]{key: func(b SignalBody) string { return SignalRowKey(b.Observer, b.Signal) },
			until: func(b SignalBody) int64 { return nano(b.At.Add(signalLives)) }}.
			kind(Kind{Name: Signal, Writer: ByFinding, Lives: "a day after it was told last", swept: true}),
		row[SubscriptionBody]{key: func(s SubscriptionBody) string { return s.ID }, until: func(s SubscriptionBody) int64 {
			return nano(s.until())
		}}.
			kind(Kind{Name: Subscription, Writer: ByOrder, Proved: "an OPERATOR_SESSION entry", Lives: "90 days after a message was taken",
				swept: true, note: true, most: MaxSubscriptions}),
		row[CarriedBody]{key: func(c CarriedBody) string {
			return c.Name
		}, next: carriedNext, owner: owners[CarriedBody]{each: ownerCarried, marks: markOwners{All: several}}}.
				kind(Kind{Name: Carried, Writer: ByOrder, Proved: "its place: without it an order would count again", Lives: "for ever"}),
		row[interlock.Run]{key: func(r interlock.Run) string { return RunKey(r.Agent, r.ID) }, marks: runMarks, binding: true,
			stands: runStands,
			next:   runNext, owner: owners[interlock.Run]{each: ownerRun, marks: markOwners{"named": several, "runs": several,
				"under": several,
				"in":    several, All: several, RunsDue: several, RunsEnded: several, RunsLate: several}}}.
			kind(Kind{Name: Run, Writer: ByAction, Lives: "for ever, open until it ends", stands: true}),
		// What is delegated to an agent that held nothing delegated before is noticed by its decisions: until then it acted freely.
		row[RunCountBody]{key: func(t RunCountBody) string { return t.Name }, marks: func(RunCountBody) []Mark { return withAll(0) },
			binds: func(t RunCountBody) bool { return t.Delegated == 1 }, next: runCountNext,
			owner: owners[RunCountBody]{each: ownerTally, marks: markOwners{All: several}}}.
			kind(Kind{Name: RunCount, Writer: ByAction, Lives: "until there is nothing to count", stands: true}),
		row[MessageBody]{key: func(m MessageBody) string { return m.ID }, marks: messageMarks, binding: true, next: messageNext,
			owner: owners[MessageBody]{each: ownerMessage, marks: markOwners{All: several, "to": several, "from": several, "in": several,
				MessagesDue: several}}}.
			kind(Kind{Name: Message, Writer: ByAction, Lives: "until it is acknowledged, or its time is over", stands: true}),
		// A plan is the row of a run, under the run's key: to know the run is to know its plan, and both are proved together.
		row[interlock.Plan]{key: func(p interlock.Plan) string { return RunKey(p.Agent, p.Run) }, binding: true,
			marks: func(p interlock.Plan) []Mark { return withAll(nano(p.Created), PlanNamed(p.ID), PlanNamed(p.Run)) },
			owner: owners[interlock.Plan]{each: ownerRun, marks: markOwners{All: several, "plan": several}}}.
			kind(Kind{Name: Plan, Writer: ByAction, Proved: "a RUN_PLAN entry", Lives: "for ever, with its run", stands: true}),
		row[CommitmentBody]{key: func(c CommitmentBody) string { return c.Name }, marks: commitmentMarks, binding: true,
			owner: owners[CommitmentBody]{each: ownerCommitment, marks: markOwners{All: several, CommitmentsLocked: several}}}.
			kind(Kind{Name: Commitment, Writer: ByAction, Lives: "for ever", stands: true}),
		row[BaselineBody]{key: func(b BaselineBody) string {
			return b.Name
		}, marks: func(b BaselineBody) []Mark { return withAll(nano(b.At)) },
			owner: owners[BaselineBody]{each: ownerBaseline, marks: markOwners{All: several}}}.
			kind(Kind{Name: Baseline, Writer: ByAction, Lives: "for ever", stands: true}),
		row[AliveBody]{key: func(a AliveBody) string {
			return a.Agent
		}, until: func(a AliveBody) int64 { return nano(a.At.Add(AliveFor)) }}.
				kind(Kind{Name: Alive, Writer: ByAction, Lives: "a day after its agent was heard last", swept: true, note: true}),
		row[CheckpointBody]{key: func(c CheckpointBody) string { return RunKey(c.Agent, c.Run) }, binding: true, next: checkpointNext,
			marks: func(c CheckpointBody) []Mark { return withAll(nano(c.At), RunNamed(c.Run)) },
			owner: owners[CheckpointBody]{each: ownerRun, marks: markOwners{All: several, "named": several}}}.
			kind(Kind{Name: Checkpoint, Writer: ByAction, Lives: "for ever, the newest of each run", stands: true}),
		row[interlock.ActionRequest]{key: func(r interlock.ActionRequest) string { return r.ID }, marks: actionMarks, binding: true,
			next: actionNext,
			owner: owners[interlock.ActionRequest]{each: ownerAction, marks: markOwners{"every": several, "is": several, All: several,
				"for": several, "by": several, ActionDue: several, "late": several, "review": several}}}.
			kind(Kind{Name: ActionRequest, Writer: ByAction, Proved: "the signatures of its votes", Lives: "for ever", stands: true}),
		row[HoldBody]{key: func(h HoldBody) string { return h.Name() }, marks: holdMarks, binding: true, next: holdNext,
			owner: owners[HoldBody]{of: func(h HoldBody) string { return ownerOfHold(h.Name()) }, key: ownerOfHold,
				// of all holds together there is no owner: those of an agent are its own
				marks: markOwners{OverAll: ownerOfHold, MemoryHolds: one(ownerHold), All: several, Due: several, Heals: several}}}.
			kind(Kind{Name: Hold, Writer: ByFinding, Lives: "until an order clears it", stands: true}),
		row[BreakerBody]{key: func(b BreakerBody) string { return b.Name }, marks: breakerMarks, binding: true,
			owner: owners[BreakerBody]{of: func(b BreakerBody) string { return ownerOfHold(b.Name) }, key: ownerOfHold,
				marks: markOwners{All: several}}}.
			kind(Kind{Name: Breaker, Writer: ByAction, Lives: "for ever", stands: true}),
		row[TallyBody]{key: func(t TallyBody) string { return t.Name }, marks: tallyMarks}.
			kind(Kind{Name: Tally, Writer: ByAction, Lives: "half an hour after the last action", swept: true,
				merge: merging(tallyMerge)}),
		// A rollback and its steps are proved together: nobody takes one of them away unnoticed.
		row[RollbackBody]{key: func(r RollbackBody) string { return r.ID }, marks: rollbackMarks, binding: true,
			owner: owners[RollbackBody]{each: ownerRollback, marks: markOwners{"named": prefixed(ownerRollback), All: several,
				RollbacksEnded: several}}}.
			kind(Kind{Name: Rollback, Writer: ByOrder, Proved: "a ROLLBACK_BEGUN, ROLLBACK_STEP or ROLLBACK_ENDED entry",
				Lives: "for ever", stands: true}),
		row[RollbackStepBody]{key: func(s RollbackStepBody) string { return RollbackStepKey(s.Rollback, s.N) }, binding: true,
			marks: func(s RollbackStepBody) []Mark { return withAll(int64(s.N), RollbackSteps(s.Rollback)) },
			owner: owners[RollbackStepBody]{of: func(s RollbackStepBody) string { return ownerRollback + s.Rollback }, key: ownerOfStep,
				marks: markOwners{"steps": prefixed(ownerRollback), All: several}}}.
			kind(Kind{Name: RollbackStep, Writer: ByOrder, Proved: "a ROLLBACK_STEP entry", Lives: "for ever", stands: true}),
		row[UsageBody]{key: func(u UsageBody) string { return u.Key }, until: usageUntil}.
			kind(Kind{Name: Usage, Writer: ByAction, Lives: "until its window is over; for ever without one", swept: true, use: usageUse,
				merge: usageMerge}),
		row[ProfileBody]{key: func(p ProfileBody) string { return p.Name }, until: profileUntil, next: profileNext}.
			kind(Kind{Name: Profile, Writer: ByFinding, Lives: "90 days after the last action", swept: true}),
		row[SettledBody]{key: func(s SettledBody) string {
			return s.Event
		}, until: func(s SettledBody) int64 { return nano(s.At.Add(keptSettled)) },
			next: settledOnce}.
			kind(Kind{Name: Settled, Writer: ByAction, Lives: "eight days", swept: true}),
		row[MeterBody]{key: func(b MeterBody) string {
			return MeterKey(&b)
		}, until: func(b MeterBody) int64 { return nano(b.At.Add(meterLives)) },
			check: meterCheck, next: meterNext}.
			kind(Kind{Name: Meter, Writer: ByAction, Lives: "eight days after it was heard last", swept: true, note: true}),
		row[BudgetBody]{key: func(b BudgetBody) string { return b.Key }, until: budgetUntil, next: budgetNext}.
			kind(Kind{Name: Budget, Writer: ByAction, Lives: "until the budget's time is over; for ever without one", swept: true}),
		row[JudgedBody]{key: func(j JudgedBody) string { return string(j.Key) }, until: judgedUntil}.
			kind(Kind{Name: Judged, Writer: ByAction, Lives: "a denial for ever, an Allow for as long as the settings say", swept: true,
				same: true}),
		row[OwedBody]{key: func(o OwedBody) string { return o.Event }, marks: func(o OwedBody) []Mark { return withAll(nano(o.At)) },
			owner: owners[OwedBody]{each: ownerOwed, marks: markOwners{All: several}}}.
			kind(Kind{Name: Owed, Writer: ByAction, Proved: "its decision's event says that it is owed", keyed: owedOf,
				Lives: "until its judge has answered, or its time is over", stands: true}),
		// Nobody decides again because of it: one who decided before it was known has asked once more, and no more than that.
		row[FirstUseBody]{key: FirstUseBody.key, marks: firstUseMarks, next: firstUseNext,
			owner: owners[FirstUseBody]{each: ownerFirstUse, marks: markOwners{All: several, "uses": several}}}.
			kind(Kind{Name: FirstUse, Writer: ByAction, Proved: "the APPROVAL entry of its request", Lives: "for ever", stands: true}),
		row[PersonBody]{key: func(p PersonBody) string { return p.Subject }, marks: personMarks, binding: true, next: personNext,
			owner: owners[PersonBody]{each: ownerPerson, marks: markOwners{All: several}}}.
			kind(Kind{Name: Person, Writer: ByOrder, Proved: "the PII_CONSENT entry of its first consent", Lives: "for ever, its key until " +
				"the council has it destroyed", stands: true}),
		row[privacy.Consent]{key: func(c privacy.Consent) string { return c.ID }, marks: consentMarks, binding: true, next: consentNext,
			owner: owners[privacy.Consent]{of: func(c privacy.Consent) string { return ownerPerson + c.Subject },
				marks: markOwners{"person": prefixed(ownerPerson), All: several}}}.
			kind(Kind{Name: Consent, Writer: ByOrder, Proved: "a PII_CONSENT or PII_CONSENT_REVOKE entry", Lives: "for ever, revoked or not",
				stands: true}),
		row[PersonalBody]{key: func(p PersonalBody) string { return p.ID }, marks: personalMarks, binding: true,
			owner: owners[PersonalBody]{of: func(p PersonalBody) string { return ownerPerson + p.Subject },
				marks: markOwners{"person": prefixed(ownerPerson), All: several}}}.
			kind(Kind{Name: Personal, Writer: ByAction, Proved: "a PII_STORED entry", Lives: "until the council has it deleted", stands: true}),
		row[memory.Fact]{key: memory.Fact.Place, marks: factMarks, binding: true, next: factNext,
			owner: owners[memory.Fact]{each: ownerFact, marks: markOwners{All: several, "in": several, "id": several, "person": several,
				FactsDue: several}}}.
			kind(Kind{Name: Memory, Writer: ByAction, Proved: "a MEMORY or sem_put entry", Lives: "until it is over or deleted", stands: true}),
	}
}

// one is said of a mark under which all rows are of one owner, and prefixed of one whose rest names it.
func one(owner string) func(string) string { return func(string) string { return owner } }
func prefixed(owner string) func(string) string {
	return func(rest string) string { return owner + rest }
}
func ofAgent(rest string) string { return ownerAgent + first(rest) }

// ofVerb is whose the orders with one verb are: of grants each has its own.
func ofVerb(verb string) string {
	if verb == string(interlock.VerbSuppress) {
		return ownerSuppression
	}
	return ""
}

// ownerOfStep is whose a step of a rollback is, by its key.
func ownerOfStep(key string) string {
	id, _, _ := strings.Cut(key, "/")
	return ownerRollback + id
}

func usageUntil(u UsageBody) int64 {
	if u.Ever {
		return math.MaxInt64
	}
	return nano(u.Last.Add(u.Kept))
}

func profileUntil(p ProfileBody) int64 {
	if p.Name == ProfileCursor {
		return nano(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	return nano(p.Last.Add(anomaly.Lives))
}

func budgetUntil(b BudgetBody) int64 {
	if b.Within > 0 {
		return nano(b.At.Add(b.Within))
	}
	return math.MaxInt64
}

func judgedUntil(j JudgedBody) int64 {
	if j.Until.IsZero() {
		return math.MaxInt64
	}
	return nano(j.Until)
}

func recentMarks(r RecentBody) []Mark {
	if n := len(r.Actions); n > 0 {
		return under(nano(r.Actions[n-1].At.Add(interlock.RecentWindow)), Until)
	}
	return nil
}

func tallyMarks(t TallyBody) []Mark {
	if n := len(t.Counts); n > 0 {
		return under(nano(time.Unix(t.Counts[n-1].At*60, 0).Add(phase.ShareWindow+time.Minute)), Until)
	}
	return nil
}
