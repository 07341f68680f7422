// Package stats counts, hour by hour, what the log says of the last month, for the console's overview and for nothing that is
// decided. It keeps nothing: what it holds is derived from the log and made again from it.
//
// Start with rollup.go; catchup.go keeps it level with the log while somebody looks.
package stats
