// Package docs holds tests that run the commands that are printed in the documentation, as they stand there, and hold its words against
// the program's. There is nothing to import.
package docs
