package admission

// KnownFailures is how many failures are remembered.
func KnownFailures(a *Admission) int {
	a.failures.mu.Lock()
	defer a.failures.mu.Unlock()
	return len(a.failures.known)
}
