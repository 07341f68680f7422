// Package anomaly says how unusual what an agent does is, from what was recorded of it: what it did in the ten minutes that run,
// held against what it did before, against how it began, and against others of its type. It is arithmetic on values and nothing else.
// Where the facts come from, where profiles are kept and what follows from a score is the matter of package admission.
//
// A profile is bounded however long its agent lives: slots of ten minutes are summed up by the day, days are forgotten after a week,
// and how it began stays for ever, so that a drift whose steps are all small shows as well. Start with Profile.With, then
// Profile.Score.
package anomaly
