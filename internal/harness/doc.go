// Package harness knows where coding agents keep their hook settings and edits them: it registers the hook, takes it out
// again, and reads back what is registered. It changes nothing else in those files, not a comment and not an order, and
// refuses a file it can't read rather than replace it.
//
// It knows nothing of proposals and verdicts; the dialects are package hook's. Start with harness.go for what is registered
// where, edit.go for how a file is changed, plan.go for doing it safely, coverage.go for what each harness never shows to
// any hook.
package harness
