package ledger

import (
	"time"

	"interlock"
)

// signalLives is how long it is remembered what an observer told of an agent.
const signalLives = 24 * time.Hour

// A SignalBody is what observers told of an agent last, and the level that people have been told of.
type SignalBody struct {
	interlock.Signal
	Observer string    `json:"observer"`
	At       time.Time `json:"at"`
	Rotate   time.Time `json:"rotate,omitzero"` // since when so much of a context is used that it should be rotated
	Told     int       `json:"told,omitempty"`  // the highest level that people were told of; see package limit
}

// SignalKey names what is told of one run of an agent.
func SignalKey(s interlock.Signal) string { return string(s.Kind) + "\x00" + s.Agent + "\x00" + s.Run }

// SignalRowKey names what an observer tells of one run of an agent: what Interlock finds by itself is beside what others tell.
func SignalRowKey(observer string, s interlock.Signal) string {
	if observer == interlock.OwnObserver {
		return SignalKey(s) + "\x00" + observer
	}
	return SignalKey(s)
}

// Row is the signal as a row to write.
func (b *SignalBody) Row() Row {
	return Row{Kind: Signal, Key: SignalRowKey(b.Observer, b.Signal), Value: *b}
}
