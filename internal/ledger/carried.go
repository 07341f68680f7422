package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"interlock"
)

// A CarriedBody says that a signed order was carried out. While it is there no other order with the same statement is.
type CarriedBody struct {
	Name    string    `json:"name"` // see [CarriedKey]
	Order   string    `json:"order"`
	Expires time.Time `json:"expires"` // of the order
}

// CarriedKey names an order by what was signed, so that nothing an order says without having been signed makes it another.
func CarriedKey(statement string) string {
	sum := sha256.Sum256([]byte(statement))
	return hex.EncodeToString(sum[:])
}

// Once is the row by which a signed order counts once: the ledger refuses a second one under the same statement.
func Once(o interlock.Order) Row {
	return Rows(CarriedBody{Name: CarriedKey(o.Statement), Order: o.ID, Expires: o.Expires})[0]
}

func carriedNext(_, _ CarriedBody, there bool, _ time.Time) error {
	if !there {
		return nil
	}
	return interlock.Errorf(interlock.CodeConflict, "id", "this order was carried out already; give it anew")
}
