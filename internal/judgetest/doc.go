// Package judgetest finds out how good a judge is: how far it agrees with labelled cases, whether it says the same twice, how long it
// takes and what it costs, and whether the five techniques that ASA 12.1 lists move it, each as a session of 10 to 20 turns and as one
// call. It also asks recorded actions again under other ground rules (ASA 17.3).
//
// Nothing here decides anything or writes into a log, and what it finds says nothing about actions that are not among its cases.
package judgetest
