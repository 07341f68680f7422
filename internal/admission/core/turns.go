package core

import (
	"context"
	"runtime"
	"sync"

	"interlock"
)

// Turns keeps one agent's costly inputs from taking all processors: of each agent so many are analysed at once, in the order in
// which they came, and so many more wait. What is short, from an agent whose inputs have been cheap to read, takes no turn.
type Turns struct {
	share int // analyses of one agent at once
	mu    sync.Mutex
	lanes map[string]*lane
}

// A lane is one agent's. It is forgotten when nothing is in it and what the agent sends has become cheap.
type lane struct {
	running int
	waiting []chan struct{} // each is closed when it is its turn
	mean    int             // steps of its last analyses, the latest counting most
}

const (
	shortInput   = 4 << 10 // bytes that need no turn, as long as what the agent sends is cheap
	cheapSteps   = 5_000   // some milliseconds
	maxInWaiting = 64      // inputs of one agent that wait
	maxLanes     = 4096    // agents remembered; beyond, those at whom nothing is under way are forgotten
)

// ErrManyCostly refuses an input of an agent that has too many waiting already.
var ErrManyCostly = interlock.Errorf(interlock.CodeLimited, "",
	"%d inputs of this agent that are long or costly to read are waiting already; send fewer at once", maxInWaiting)

// NewTurns returns turns in which an agent has the given share of analyses at once, or half of the processors for 0: a server has more
// threads than there are, for those that wait for the disk.
func NewTurns(share int) *Turns {
	if share == 0 {
		share = max(1, min(runtime.GOMAXPROCS(0), runtime.NumCPU())/2)
	}
	return &Turns{share: share, lanes: map[string]*lane{}}
}

// Take waits until it is the turn of an agent's input of so many bytes. The caller tells done what the analysis cost. Too many
// waiting is an error of code limited; the context's is that of waiting too long.
func (t *Turns) Take(ctx context.Context, agent string, bytes int) (done func(steps int), err error) {
	t.mu.Lock()
	l := t.lanes[agent]
	if bytes <= shortInput && (l == nil || l.mean <= cheapSteps && l.running == 0) {
		t.mu.Unlock()
		return func(steps int) { t.note(agent, steps) }, nil
	}
	if l == nil {
		l = t.lane(agent)
	}
	done = func(steps int) { t.leave(agent, l, steps) }
	if l.running < t.share {
		l.running++
		t.mu.Unlock()
		return done, nil
	}
	if len(l.waiting) >= maxInWaiting {
		t.mu.Unlock()
		return nil, ErrManyCostly
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return done, nil
	case <-ctx.Done():
		t.withdraw(agent, l, turn)
		return nil, ctx.Err()
	}
}

// lane returns an agent's lane, which it makes. mu is held.
func (t *Turns) lane(agent string) *lane {
	if l := t.lanes[agent]; l != nil {
		return l
	}
	if len(t.lanes) >= maxLanes {
		for name, l := range t.lanes {
			if l.running == 0 && len(l.waiting) == 0 {
				delete(t.lanes, name)
			}
		}
	}
	l := &lane{}
	t.lanes[agent] = l
	return l
}

// note remembers what an input cost that took no turn. Of what is cheap, from an agent that sends nothing else, nothing is kept.
func (t *Turns) note(agent string, steps int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lanes[agent]
	if l == nil && steps <= cheapSteps {
		return
	}
	t.cost(agent, t.lane(agent), steps)
}

// cost brings a lane's mean up to date. mu is held.
func (t *Turns) cost(agent string, l *lane, steps int) {
	if l.mean = (3*l.mean + steps) / 4; l.mean <= cheapSteps && l.running == 0 && len(l.waiting) == 0 {
		delete(t.lanes, agent)
	}
}

// leave ends a turn, which goes to whatever waits longest.
func (t *Turns) leave(agent string, l *lane, steps int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next(l)
	t.cost(agent, l, steps)
}

// next gives a turn that ends to the first that waits. mu is held.
func (t *Turns) next(l *lane) {
	if len(l.waiting) == 0 {
		l.running--
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
}

// withdraw takes back what waits no longer, or the turn that it was given meanwhile.
func (t *Turns) withdraw(agent string, l *lane, turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, waits := range l.waiting {
		if waits == turn {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			return
		}
	}
	t.next(l)
	t.cost(agent, l, l.mean)
}
