// Package module is the arithmetic of modules: how far one is trusted by what came of its work, in which status that puts it, how
// available it is, and whether what failed is tried once more (MACE APT, self representation, failure boundaries). It knows values and
// nothing else. Who may act, and what a status keeps from acting, is the ledger's and the gates' matter. Start with Event, then
// Health.
package module
