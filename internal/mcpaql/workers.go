package mcpaql

// keptWorkers is how many goroutines wait for the next call.
const keptWorkers = 16

// workers carry calls out on goroutines that are kept, because a decision needs a stack that a new goroutine has to grow piece
// by piece: that took a twentieth of a reported step.
type workers struct{ idle chan chan func() }

func newWorkers() workers { return workers{idle: make(chan chan func(), keptWorkers)} }

// do runs work, which must not panic, and returns when it is done.
func (w workers) do(work func()) {
	var on chan func()
	select {
	case on = <-w.idle:
	default:
		on = make(chan func())
		go w.run(on)
	}
	done := make(chan struct{})
	on <- func() {
		work()
		close(done)
	}
	<-done
}

func (w workers) run(on chan func()) {
	for work := range on {
		work()
		select {
		case w.idle <- on:
		default:
			return // enough are waiting
		}
	}
}

// dismiss ends those that wait.
func (w workers) dismiss() {
	for {
		select {
		case on := <-w.idle:
			close(on)
		default:
			return
		}
	}
}
