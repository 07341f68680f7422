package admission

// Endings is how many actions have ended whose outcomes are not recorded.
func Endings(a *Admission) int {
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	return len(a.endings.some)
}
