package console

import (
	"net/http"
	"slices"

	"interlock"
)

func hasPasskey(operator interlock.OperatorRecord, id string) bool {
	return slices.ContainsFunc(operator.Passkeys, func(p interlock.Passkey) bool { return p.ID == id })
}

// RemovePasskey is the change that takes one passkey from an operator; see [interlock.OperatorRecord]. keepWayIn refuses to take
// the last credential.
func RemovePasskey(id string, keepWayIn bool) func(*interlock.OperatorRecord) error {
	return func(o *interlock.OperatorRecord) error {
		rest := slices.DeleteFunc(slices.Clone(o.Passkeys), func(p interlock.Passkey) bool { return p.ID == id })
		switch {
		case len(rest) == len(o.Passkeys):
			return interlock.Errorf(interlock.CodeNotFound, "id", "this operator has no passkey with this id")
		case keepWayIn && len(rest) == 0 && o.SSHKey == "":
			return interlock.Errorf(interlock.CodeConflict, "id",
				"this is the only way in; register another passkey first, or have an admin remove this one")
		}
		o.Passkeys = rest
		return nil
	}
}

// removePasskey takes one of the visitor's own passkeys away. It only tightens, so the session's word is enough; the last way in
// it does not take, so that a stolen session can't lock its operator out.
func (c *Console) removePasskey(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	id := r.PostForm.Get("id")
	if err := c.config.Backend.UpdateOperator(r.Context(), v.operator.Name, RemovePasskey(id, true)); err != nil {
		c.fail(w, r, err)
		return
	}
	c.record(r, v.operator.Name, "removed", "passkey "+id)
	http.Redirect(w, r, "/sessions", http.StatusSeeOther)
}
