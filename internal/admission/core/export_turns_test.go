package core

// Waiting returns how many inputs of an agent wait for their turn.
func (t *Turns) Waiting(agent string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lanes[agent]; l != nil {
		return len(l.waiting)
	}
	return 0
}

// Agents returns how many agents are remembered.
func (t *Turns) Agents() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.lanes)
}
