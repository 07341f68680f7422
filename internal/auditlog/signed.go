package auditlog

import (
	"fmt"

	"interlock"
)

// SignedEvent reads an entry whose event this key has signed by itself, as it does those by which people govern. Whatever is not so
// signed, or is not what its hashes say, is an error: whoever can write to a store's file can make no such event without the key.
func (k *PublicKey) SignedEvent(e interlock.Entry) (Event, error) {
	event, err := ParseEvent(e.Body)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("auditlog: read the event: %w", err)
	case !signed(event.Type) || event.Type != e.Type || event.ID != e.ID || !isEventID(&event):
		return Event{}, fmt.Errorf("auditlog: the event %.64q is not of a type that is signed, or not the one that is named", e.ID)
	case !event.Sound():
		return Event{}, fmt.Errorf("auditlog: the payload of %.64q is not the one that was hashed", e.ID)
	}
	if err := k.verifyEvent(&event); err != nil {
		return Event{}, fmt.Errorf("auditlog: the event %.64q: %w", e.ID, err)
	}
	return event, nil
}
