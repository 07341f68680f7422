package console

import (
	"context"
	"errors"
	"net/http"
	"sort"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/ledger"
)

// A served is one server behind the gateway on the page about tools.
type served struct {
	pinned
	Tools []pinned // in quarantine first, then by name
	Held  int      // of the server and its tools, in quarantine
	// of the same, in use since their first use, and nobody has signed for them
	Unsigned int
}

// A pinned is a tool, or a server, as it is shown.
type pinned struct {
	interlock.Pin
	Subject     string
	Says        string
	Approved    bool
	Differences []pinning.Difference // only on its own page
	Definition  []pinning.Difference // the whole of it where nothing differs, place by place; only on its own page
}

func shownPin(pin interlock.Pin) pinned {
	return pinned{Pin: pin, Subject: interlock.PinSubject(pin.Server, pin.Tool), Says: pinning.PinSays(pin),
		Approved: pin.Status == interlock.PinApproved}
}

// toolsPage lists the servers behind the gateway and what they offer, those with something in quarantine first.
func (c *Console) toolsPage(w http.ResponseWriter, r *http.Request) {
	pins, more, err := c.pins(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	byName := map[string]*served{}
	for _, pin := range pins {
		s := byName[pin.Server]
		if s == nil {
			s = &served{}
			byName[pin.Server] = s
		}
		one := shownPin(pin)
		if pin.Tool == "" {
			s.pinned = one
		} else {
			s.Tools = append(s.Tools, one)
		}
		if !one.Approved {
			s.Held++
		}
		if pin.Unsigned() {
			s.Unsigned++
		}
	}
	list := make([]*served, 0, len(byName))
	for _, s := range byName {
		sort.Slice(s.Tools, func(i, j int) bool {
			a, b := s.Tools[i], s.Tools[j]
			return !a.Approved && b.Approved || a.Approved == b.Approved && a.Tool < b.Tool
		})
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Held > 0 && list[j].Held == 0 || (list[i].Held > 0) == (list[j].Held > 0) &&
			list[i].Server < list[j].Server
	})
	c.render(w, r, http.StatusOK, "tools.html", "Tools", struct {
		Rows []*served
		More int
	}{list, more})
}

// pins are those that a page lists: those in quarantine first, and of the rest as many as there is room for.
func (c *Console) pins(ctx context.Context) (pins map[string]interlock.Pin, more int, err error) {
	pins = map[string]interlock.Pin{}
	for _, mark := range []string{ledger.Held, ledger.All} {
		span := ledger.Every(maxPins)
		for {
			rows, next, err := c.config.Backend.Scan(ctx, under(ledger.Pin, mark), span)
			if err != nil {
				return nil, 0, err
			}
			for _, row := range rows {
				if pin, ok := row.Value.(interlock.Pin); ok {
					pins[row.Key] = pin
				}
			}
			if next == (ledger.Place{}) || len(pins) >= maxPins {
				break
			}
			span.After = next
		}
	}
	if len(pins) < maxPins {
		return pins, 0, nil
	}
	all, err := c.config.Backend.Count(ctx, under(ledger.Pin, ledger.All), ledger.Every(len(pins)+maxCounted))
	return pins, max(all-len(pins), 0), err
}

// toolPage shows one tool, or what an order about a whole server would approve, with what differs from what was approved.
func (c *Console) toolPage(w http.ResponseWriter, r *http.Request) {
	subject := r.URL.Query().Get("subject")
	standing, err := c.config.Backend.Ground(r.Context(), pinning.PinsOf(subject))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	pins, known := pinning.Pinned(standing, subject)
	if !known {
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is known of this tool"))
		return
	}
	page := struct {
		Subject string
		Whole   bool // it is a server
		Seen    string
		// the detail of an order to sign what is shown, which is in use since its first use; what waits in quarantine comes first
		Unsigned string
		Pins     []pinned
		Reading  bool
		Apart    []string // of a server, what is in quarantine and approved one by one
		Ordered  bool     // an operator has put all of it into quarantine, so that there is nothing left to put there
	}{Subject: subject, Whole: subjectTool(subject) == "", Reading: c.may(r, reading)}
	if waiting, detail, err := pinning.Approvable(standing, subject); err == nil {
		pins, page.Seen = waiting, detail
	} else if unsigned, detail, err := pinning.Signable(standing, subject); err == nil {
		pins, page.Unsigned = unsigned, detail
	}
	if page.Whole {
		page.Apart = apart(standing, subject)
	}
	for _, pin := range pins {
		one := shownPin(pin)
		if page.Reading && pin.Tool != "" {
			if one.Differences, one.Definition, err = c.differences(r, pin); err != nil {
				c.fail(w, r, err)
				return
			}
		}
		page.Pins = append(page.Pins, one)
		page.Ordered = pin.Tool == subjectTool(subject) && !one.Approved && pin.Why == interlock.PinOrdered || page.Ordered
	}
	c.render(w, r, http.StatusOK, "tool.html", "Tool", page)
}

// apart are the tools of a server that an order about the whole of it leaves in quarantine.
func apart(standing ledger.Standing, server string) (subjects []string) {
	known, _ := pinning.Pinned(standing, server)
	covered := map[string]bool{}
	if waiting, _, err := pinning.Approvable(standing, server); err == nil {
		for _, pin := range waiting {
			covered[pin.Tool] = true
		}
	}
	for _, pin := range known {
		if pin.Status != interlock.PinApproved && !covered[pin.Tool] {
			subjects = append(subjects, shownPin(pin).Subject)
		}
	}
	return subjects
}

// subjectTool is the tool that a subject names, empty for a server.
func subjectTool(subject string) string {
	_, tool, _ := interlock.SplitPinSubject(subject)
	return tool
}

// differences are what differs of a tool from what was approved, or, where nothing does, all of it: a person who trusted first
// use has not read it yet.
func (c *Console) differences(r *http.Request, pin interlock.Pin) (differ, whole []pinning.Difference, err error) {
	approved, seen, err := c.config.Backend.Definitions(r.Context(), pin.Server, pin.Tool)
	var refusal *interlock.Error
	if errors.As(err, &refusal) && refusal.Code == interlock.CodeNotFound {
		return nil, nil, nil
	}
	if differ = pinning.Differences(approved, seen); len(differ) == 0 {
		whole = pinning.Differences(nil, seen)
	}
	return differ, whole, err
}

// takeTool reads an order about a tool or a server that is known.
func takeTool(d *drafting) (string, interlock.Requester, error) {
	if _, known := pinning.Pinned(d.standing, d.subject); !known {
		return "", interlock.Requester{}, interlock.Errorf(interlock.CodeNotFound, "subject", "nothing is known of this tool")
	}
	return "", interlock.Requester{}, nil
}

// takeSeen reads an order about definitions of tools, which is about what its giver was shown of them.
func takeSeen(look func(ledger.Standing, string) ([]interlock.Pin, string, error)) taken {
	return taken{read: func(d *drafting) (string, interlock.Requester, error) {
		_, detail, err := look(d.standing, d.subject)
		if err == nil && detail != d.query.Get("seen") {
			err = interlock.Errorf(interlock.CodeConflict, "seen", "what is listed has changed since the page was made; look again")
		}
		return detail, interlock.Requester{}, err
	}}
}
