package answer

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type RequestCommand struct {
	List     requestList     `cmd:"" default:"withargs" help:"List requests for acts of governance, the newest first."`
	Show     requestShow     `cmd:"" help:"Show one, as whoever votes signs it, with its votes."`
	Create   requestCreate   `cmd:"" help:"Ask for an act of governance."`
	Vote     requestVote     `cmd:"" help:"Vote on a request."`
	Withdraw requestWithdraw `cmd:"" help:"Take one's own request back."`
	Execute  requestExecute  `cmd:"" help:"Begin to carry out what is approved, or tell how that ended."`
}

// maxRequests is how many requests are listed.
const maxRequests = 200

type requestList struct {
	All  bool `help:"List those that have ended too."`
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists requests.
func (c *requestList) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	all, err := backend.Actions(p.Ctx, maxRequests)
	if err != nil {
		return err
	}
	list := []interlock.ActionRequest{}
	for _, r := range all {
		if c.All || !r.Status.Ended() {
			list = append(list, r)
		}
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no request waits")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REQUEST\tACTION\tTARGET\tSTATUS\tVOTES\tUNTIL")
	for _, r := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d of %d\t%s\n", r.ID, r.Action.Type, cli.Printable(r.Action.Target), r.Status, len(r.Ballot.Votes),
			len(r.Ballot.Roster), r.Ballot.Closes.Local().Format("2006-01-02 15:04"))
	}
	return table.Flush()
}

type requestShow struct {
	ID   string `arg:"" help:"The request's id." placeholder:"ID"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run shows one request.
func (c *requestShow) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	r, count, err := backend.Action(p.Ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, r)
	}
	fmt.Fprint(p.Stdout, r.Display)
	fmt.Fprintf(p.Stdout, "status: %s\n", r.Status)
	if r.Why != "" {
		fmt.Fprintf(p.Stdout, "ended: %s\n", cli.Printable(r.Why))
	}
	fmt.Fprintf(p.Stdout, "votes: %d approve, %d reject, %d abstain, %d outstanding\n", count.Approve, count.Reject, count.Abstain,
		count.Outstanding())
	for _, o := range r.Ballot.Votes {
		if v, err := quorum.VoteOf(o); err == nil {
			fmt.Fprintf(p.Stdout, "  %s %s%s\n", cli.Printable(o.Operator), v.Vote, cli.Printable(" "+o.Reason))
		}
	}
	return nil
}

type requestCreate struct {
	cli.OrderFlags
	Type     string   `arg:"" help:"What to do, such as code_upload or module_quarantine; see docs/council.md." placeholder:"TYPE"`
	Target   string   `required:"" help:"What it is done to, such as agent:NAME." placeholder:"TEXT"`
	Params   string   `help:"What exactly, or its digest." placeholder:"TEXT"`
	Because  string   `required:"" help:"Why, for who votes." placeholder:"TEXT"`
	Evidence []string `help:"Ids of events that show why." placeholder:"EVENT"`
	Approval string   `help:"Take more than the action's class does: admin_single, admin_notify_council or council_quorum; or superadmin_dual for safety_override." placeholder:"TYPE"`
	JSON     bool     `name:"json" help:"Print JSON."`
	Signed   bool     `help:"Print the signed order, for the control door, and ask for nothing."`
}

// Help is what `interlock request create --help` adds.
func (requestCreate) Help() string {
	return "A signed order of any operator: whoever asks does not vote. What each type takes stands in docs/council.md."
}

// Run asks for something.
func (c *requestCreate) Run(p *cli.Program) error {
	detail, err := governance.Detail(governance.RequestTerms{Target: c.Target, Params: c.Params, Evidence: c.Evidence, Approval: c.Approval})
	if err != nil {
		return err
	}
	return give(p, c.OrderFlags, c.Signed, interlock.VerbRequest, c.Type, detail, c.Because, func(r interlock.ActionRequest, event string) error {
		if c.JSON {
			return cli.WriteLine(p.Stdout, r)
		}
		_, err := fmt.Fprintf(p.Stdout, "%s takes %s, quorum %d of %d, until %s; recorded as event %s\n", r.ID, r.Ballot.Approval,
			r.Ballot.Quorum, len(r.Ballot.Roster), r.Ballot.Closes.Local().Format("2006-01-02 15:04"), event)
		return err
	})
}

// give has an order about a request carried out, or prints it as signed.
func give(p *cli.Program, who cli.OrderFlags, signed bool, verb interlock.Verb, subject, detail, reason string,
	then func(r interlock.ActionRequest, event string) error) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if signed {
		given, err := cli.NewOrder(verb, subject, detail, reason, interlock.Requester{})
		if err != nil {
			return err
		}
		return p.Signed(backend, who, given)
	}
	_, done, err := p.OrderNew(backend, who, verb, subject, detail, reason)
	if err != nil {
		return err
	}
	return then(done.Request, done.Events[0])
}

type requestVote struct {
	cli.OrderFlags
	ID      string `arg:"" help:"The request's id, as interlock request list and interlock pending show it." placeholder:"ID"`
	Approve bool   `help:"Vote to approve." xor:"vote" required:""`
	Reject  bool   `help:"Vote to reject, and say why." xor:"vote" required:""`
	Abstain bool   `help:"Vote neither; it does not count towards the quorum." xor:"vote" required:""`
	Reason  string `help:"Why, for the record. A vote to reject needs it." placeholder:"TEXT"`
	Signed  bool   `help:"Print the signed vote, for the control door, and don't vote."`
}

// Help is what `interlock request vote --help` adds.
func (requestVote) Help() string {
	return "Shows the request and signs a vote on exactly that. A vote stands as it was given. Questions of agents whose rule wants the\n" +
		"council (obligation council) are voted on in the same way."
}

// Run votes.
func (c *requestVote) Run(p *cli.Program) error {
	vote := quorum.VoteAbstain
	switch {
	case c.Approve:
		vote = quorum.VoteApprove
	case c.Reject:
		vote = quorum.VoteReject
	}
	if c.Reject && strings.TrimSpace(c.Reason) == "" {
		return interlock.Errorf(interlock.CodeInvalid, "--reason", "a vote to reject says why")
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	detail, about, err := votable(p, backend, c.ID, vote)
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbVote, c.ID, detail, c.Reason, about)
	if err != nil {
		return err
	}
	if c.Signed {
		return p.Signed(backend, c.OrderFlags, given)
	}
	given, done, err := p.Order(backend, c.OrderFlags, given)
	if err != nil {
		return err
	}
	status := string(done.Request.Status)
	if done.Request.ID == "" {
		status = string(done.Question.Status)
	}
	return p.Done(done, "%s votes to %s; the request is %s", given.Operator, vote, status)
}

// votable shows what is voted on, and says what is signed.
func votable(p *cli.Program, backend *embedded.Backend, id, vote string) (detail string, about interlock.Requester, err error) {
	standing, err := p.Standing(backend, cli.Ref(ledger.ActionRequest, id), cli.Ref(ledger.Request, id))
	if err != nil {
		return "", about, err
	}
	v, shown := quorum.Vote{Request: id, Vote: vote}, ""
	if r, is := standing.Action(id); is {
		v.Action, v.Roster, shown, about = r.Digest, r.Ballot.Hash, r.Display, quorum.OfAction(r).Requester
	} else if r, is := standing.Requests[id]; is && r.Ballot != nil {
		v.Action, v.Roster, shown, about = r.Action, r.Ballot.Hash, r.Display, r.Requester
	} else {
		return quorum.VoteDetail(v), about, nil // and it is refused, with its event
	}
	v.Display = quorum.DisplayDigest(shown)
	_, err = fmt.Fprint(p.Stderr, shown)
	return quorum.VoteDetail(v), about, err
}

type requestWithdraw struct {
	cli.OrderFlags
	ID     string `arg:"" help:"The request's id." placeholder:"ID"`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Run takes a request back.
func (c *requestWithdraw) Run(p *cli.Program) error {
	return give(p, c.OrderFlags, false, interlock.VerbWithdraw, c.ID, "", c.Reason, func(r interlock.ActionRequest, event string) error {
		_, err := fmt.Fprintf(p.Stdout, "%s is %s, recorded as event %s\n", r.ID, r.Status, event)
		return err
	})
}

type requestExecute struct {
	cli.OrderFlags
	ID       string `arg:"" help:"The request's id." placeholder:"ID"`
	Executed bool   `help:"It was carried out." xor:"how"`
	Failed   bool   `help:"It was begun and failed." xor:"how"`
	Reason   string `help:"What happened, for the record." placeholder:"TEXT"`
	Signed   bool   `help:"Print the signed order, for the control door, and begin nothing."`
}

// Help is what `interlock request execute --help` adds.
func (requestExecute) Help() string {
	return "A signed order of an admin or of one of the council. What Interlock does itself, such as a quarantine, is done with it. All else is\n" +
		"begun with it, once: carry it out then, and tell how that ended with --executed or --failed. If anything that was approved has\n" +
		"changed since, the request is invalidated instead, and the command fails."
}

// Run carries something out, or tells how that ended.
func (c *requestExecute) Run(p *cli.Program) error {
	how := interlock.ActionExecuting
	switch {
	case c.Executed:
		how = interlock.ActionExecuted
	case c.Failed:
		how = interlock.ActionFailed
	}
	return give(p, c.OrderFlags, c.Signed, interlock.VerbExecute, c.ID, string(how), c.Reason, func(r interlock.ActionRequest, event string) error {
		if r.Status == interlock.ActionInvalidated || r.Status == interlock.ActionFailed && how != interlock.ActionFailed {
			return interlock.Errorf(interlock.CodeConflict, "request", "%s is %s: %s (event %s)", r.ID, r.Status, r.Why, event)
		}
		after := ""
		if r.Status == interlock.ActionExecuting {
			after = "; carry it out, and say how it ended with --executed or --failed until " + r.Expires.Local().Format(time.DateTime)
		}
		_, err := fmt.Fprintf(p.Stdout, "%s is %s, recorded as event %s%s\n", r.ID, r.Status, event, after)
		return err
	})
}
