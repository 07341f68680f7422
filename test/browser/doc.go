// Package browser holds tests that drive the console in Chromium, as its users do. There is nothing to import.
package browser
