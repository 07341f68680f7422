// Package render says in words and pictures what the console's pages show: an action taken apart for reading, an edit line by
// line, what would be touched, gauges, plots. It is made of values alone: it reads no request and no store, and decides nothing.
//
// Start with headline.go, which every list of actions uses; layout.go takes hostile text apart into pieces that a page can show.
package render
