package httpapi

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"interlock/internal/meter"

	"interlock"
)

// slots count requests under way, in all and of each holder, so that no holder can take what others need. A holder is an agent,
// by its credential, or an address that has shown none. The zero value refuses everything. It is safe for concurrent use.
type slots struct {
	most  int // in all
	share int // of one holder
	floor int // of one holder, even while all is full: so many nobody else can take away

	mu   sync.Mutex
	all  int
	held map[string]int // no holder stays in it with none

	told meter.Allowance // of lines about what was turned away
}

func newSlots(most, share, floor int) *slots {
	return &slots{most: most, share: share, floor: floor, held: map[string]int{},
		told: meter.Allowance{Most: 1, Per: time.Second}}
}

// take takes a slot for a holder, or says why there is none: its own are taken (limited), or everybody's are (unavailable).
func (s *slots) take(holder string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.held[holder]
	switch {
	case own >= s.share && own >= s.floor:
		return interlock.Errorf(interlock.CodeLimited, "",
			"%d of your requests are under way, and one caller may have no more; wait for an answer, or try again in a second", own)
	case s.all >= s.most && own >= s.floor:
		return interlock.Errorf(interlock.CodeUnavailable, "", "too many requests are under way; try again in a second")
	}
	s.all++
	s.held[holder] = own + 1
	return nil
}

// give gives a slot back.
func (s *slots) give(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.held[holder]--; s.held[holder] <= 0 {
		delete(s.held, holder)
	}
}

// count is how many are taken.
func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// underWay counts the requests that hold a slot.
func (s *Server) underWay() int64 {
	return int64(s.agents.count() + s.strangers.count() + s.hooks.count())
}

// enter takes a slot of the right kind for the one who asks, or answers that there is none. Who has shown a credential is counted
// by it; others by their address, apart, because on one machine all addresses are one and a stranger's requests must not stand in
// the way of an agent's. Calls on the socket without a token, which are the hooks', are in nobody else's count.
func (x *exchange) enter() (entered bool) {
	room, holder := x.server.strangers, ""
	switch {
	case x.token:
		room, holder = x.server.agents, x.agent.ID
	case x.door == local:
		room = x.server.hooks
	case x.door == agents:
		holder = x.peer.Name
	default:
		holder = addressOf(x.r.RemoteAddr)
	}
	if err := room.take(holder); err != nil {
		x.turnAway(room, err)
		return false
	}
	x.room, x.holder = room, holder
	if !x.token || x.route != routeEvents && x.route != routeProof {
		return true
	}
	// Reading the log takes long and the store has few readers, which decisions need as well.
	if err := x.server.readers.take(holder); err != nil {
		x.leave()
		x.turnAway(x.server.readers, err)
		return false
	}
	x.reading = true
	return true
}

// leave gives back what enter took.
func (x *exchange) leave() {
	if x.reading {
		x.server.readers.give(x.holder)
	}
	x.room.give(x.holder)
}

// tell counts one that was turned away, and says how many they are by now if it is time to say so: one who fills the room must
// not fill the server's log as well.
func (s *slots) tell(now time.Time) (turned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	may, missed := s.told.Take(now)
	if !may {
		return 0
	}
	return missed + 1
}

// count counts a request that got no answer for want of room or pace, for the server's log.
func (x *exchange) count(room *slots) {
	x.turned = room.tell(x.start)
	x.unsaid = x.turned == 0
}

// turnAway answers that there is no room now.
func (x *exchange) turnAway(room *slots, err error) {
	x.count(room)
	x.w.Header()["Retry-After"] = []string{"1"}
	x.fail(err)
}

// addressOf is a caller's address without its port; of IPv6 the network of 64 bits, which is one customer's.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap().WithZone(""); address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}
