package ruleset

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"interlock"
	"interlock/internal/strictjson"
)

// A CedarPolicy objects to what a Cedar policy forbids, by who asks, what is done to what, and when. It says so by annotations: @id and
// @reason, and where it is not to deny at layer 3, @verdict and @layer. What permits is refused.
type CedarPolicy struct {
	Policy string     `json:"policy"` // one policy, in Cedar's own language
	Tests  CedarTests `json:"tests,omitzero"`

	id, reason string
	layer      int
	verdict    interlock.Verdict
	set        *cedar.PolicySet
}

// CedarTests are a policy's own.
type CedarTests struct {
	Block []CedarCase `json:"block,omitempty"`
	Ask   []CedarCase `json:"ask,omitempty"`
	Pass  []CedarCase `json:"pass,omitempty"`
}

// A CedarCase is an action, who asks for it, and when. Without a kind, input is a shell command.
type CedarCase struct {
	interlock.Action
	Agent string    `json:"agent,omitempty"`
	Type  string    `json:"type,omitempty"` // of the agent
	User  string    `json:"user,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// A CedarQuery is what policies are asked about.
type CedarQuery struct {
	Agent     interlock.AgentRecord
	Run       string
	Delegated bool
	User      string
	Action    interlock.Action
	Impacts   []interlock.Impact
	At        time.Time
}

// A CedarHit is a policy that objects, and to which of the impacts.
type CedarHit struct {
	ID, Reason string
	Layer      int
	Verdict    interlock.Verdict
	Impacts    []int
}

// maxCedar bounds the policies of a ruleset: each is asked about each impact.
const maxCedar = 200

// ID names the policy.
func (p *CedarPolicy) ID() string { return p.id }

// Cedar lists the policies, by id.
func (r *Ruleset) Cedar() []*CedarPolicy { return r.cedar }

// cedar checks the policies of a document, and compiles them.
func (c *checker) cedar(list []*CedarPolicy) error {
	if len(list) > 0 && !c.user {
		return c.doc.Errorf("/cedar", "the program has no Cedar policies; they are an operator's")
	}
	if len(c.loader.ruleset.cedar)+len(list) > maxCedar {
		return c.doc.Errorf("/cedar", "there are more than %d policies", maxCedar)
	}
	for i, p := range list {
		at := fmt.Sprintf("/cedar/%d", i)
		if p == nil {
			return c.doc.Errorf(at, "the policy is empty")
		}
		if err := c.cedarPolicy(p, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) cedarPolicy(p *CedarPolicy, at string) error {
	var policy cedar.Policy
	if err := policy.UnmarshalCedar([]byte(p.Policy)); err != nil {
		return c.doc.Errorf(at+"/policy", "is no Cedar policy: %.200s", oneLine(err.Error()))
	}
	if policy.Effect() != cedar.Forbid {
		return c.doc.Errorf(at+"/policy", "permits, and policies may only object; write forbid")
	}
	notes := policy.Annotations()
	p.id, p.reason, p.layer, p.verdict = string(notes["id"]), string(notes["reason"]), 3, interlock.Deny
	if !idForm().MatchString(p.id) || len(p.id) > 80 {
		return c.doc.Errorf(at+"/policy", `names itself by no @id of lower-case words joined by dots and dashes, e.g. @id("team.nights")`)
	}
	if other, taken := c.loader.ids[p.id]; taken {
		return c.doc.Errorf(at+"/policy", "the id %s stands in %s already; choose another", p.id, other)
	}
	c.loader.ids[p.id] = c.file
	if p.reason == "" || len(p.reason) > maxReason || strings.ContainsAny(p.reason, "\r\n") {
		return c.doc.Errorf(at+"/policy", "gives no @reason: one plain sentence of at most %d bytes that an agent may read", maxReason)
	}
	if text, given := notes["layer"]; given {
		if n, err := strconv.Atoi(string(text)); err != nil || n < 1 || n > 4 {
			return c.doc.Errorf(at+"/policy", "@layer is 1, 2, 3 or 4")
		} else {
			p.layer = n
		}
	}
	if text, given := notes["verdict"]; given {
		if err := p.verdict.UnmarshalText([]byte(text)); err != nil || p.verdict == interlock.Allow {
			return c.doc.Errorf(at+"/policy", "@verdict is ask, deny or halt")
		}
	}
	for name := range notes {
		if !slices.Contains([]types.Ident{"id", "reason", "layer", "verdict"}, name) { // any order: one is enough
			return c.doc.Errorf(at+"/policy", "has an annotation that means nothing here; known are @id, @reason, @verdict and @layer")
		}
	}
	p.set = cedar.NewPolicySet()
	p.set.Add("0", &policy)
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Forbidden are the policies that object, by id. One that can't be evaluated, because what it speaks of is not there, objects.
func (r *Ruleset) Forbidden(q CedarQuery) (hits []CedarHit) {
	if len(r.cedar) == 0 {
		return nil
	}
	impacts := q.Impacts
	if len(impacts) == 0 {
		impacts = []interlock.Impact{{Kind: "none"}}
	}
	entities, request := r.entities(q)
	for _, p := range r.cedar {
		hit := CedarHit{ID: p.id, Reason: p.reason, Layer: p.layer, Verdict: p.verdict}
		met := false
		for n := range impacts {
			entities[request.Resource] = resource(request.Resource, &impacts[n])
			_, found := cedar.Authorize(p.set, entities, request)
			if len(found.Reasons)+len(found.Errors) == 0 {
				continue
			}
			if met = true; len(q.Impacts) > 0 {
				hit.Impacts = append(hit.Impacts, n)
			}
		}
		if met {
			hits = append(hits, hit)
		}
	}
	return hits
}

// entities are what a query is about but for the resource, which is each impact in its turn.
func (r *Ruleset) entities(q CedarQuery) (cedar.EntityMap, cedar.Request) {
	name, role := TypeName(q.Agent), ""
	if t := r.types[name]; t != nil {
		role = t.Role
	}
	of := cedar.NewEntityUID("Type", cedar.String(name))
	at := q.At.UTC()
	request := cedar.Request{
		Principal: cedar.NewEntityUID("Agent", cedar.String(q.Agent.ID)),
		Action:    cedar.NewEntityUID("Action", cedar.String(q.Action.Kind)),
		Resource:  cedar.NewEntityUID("Resource", "it"),
		Context: cedar.NewRecord(cedar.RecordMap{"tool": cedar.String(q.Action.Tool), "dir": cedar.String(q.Action.Dir),
			"time": cedar.NewDatetime(at), "hour": cedar.Long(at.Hour()), "weekday": cedar.Long(at.Weekday())}),
	}
	agent := cedar.Entity{UID: request.Principal, Parents: cedar.NewEntityUIDSet(of), Attributes: cedar.NewRecord(cedar.RecordMap{
		"id": cedar.String(q.Agent.ID), "type": cedar.String(name), "role": cedar.String(role), "user": cedar.String(q.User),
		"trust": cedar.String(q.Agent.Trust.String()), "run": cedar.String(q.Run), "delegated": cedar.Boolean(q.Delegated)})}
	return cedar.EntityMap{request.Principal: agent, of: cedar.Entity{UID: of}, request.Action: cedar.Entity{UID: request.Action}}, request
}

func resource(uid cedar.EntityUID, i *interlock.Impact) cedar.Entity {
	traits := make([]cedar.Value, len(i.Traits))
	for n, t := range i.Traits {
		traits[n] = cedar.String(t)
	}
	return cedar.Entity{UID: uid, Attributes: cedar.NewRecord(cedar.RecordMap{"kind": cedar.String(i.Kind), "target": cedar.String(i.Target),
		"reach": cedar.String(i.Reach), "reversibility": cedar.String(i.Reversibility), "confidence": cedar.String(i.Confidence),
		"via": cedar.String(i.Via), "amount": cedar.Long(i.Amount), "traits": cedar.NewSet(traits...)})}
}

// loosenedCedar names the policies that are gone or say anything else.
func loosenedCedar(from, to *Ruleset) (out []string, err error) {
	for _, p := range from.cedar {
		at := slices.IndexFunc(to.cedar, func(o *CedarPolicy) bool { return o.id == p.id })
		if at < 0 {
			out = append(out, "cedar "+p.id)
			continue
		}
		was, err := strictjson.Marshal(p.Policy)
		if err != nil {
			return out, err
		}
		is, err := strictjson.Marshal(to.cedar[at].Policy)
		if err != nil {
			return out, err
		}
		if !bytes.Equal(was, is) {
			out = append(out, "cedar "+p.id)
		}
	}
	return out, nil
}

// Plain is a ruleset without types and policies, for proving what its rules say of an action no matter who asks for it.
func (r *Ruleset) Plain() *Ruleset {
	if !r.Typed() && len(r.cedar) == 0 {
		return r
	}
	less := *r
	less.types, less.userTypes, less.cedar = nil, nil, nil
	return &less
}
