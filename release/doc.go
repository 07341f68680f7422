// Command release builds everything that is handed out of one version of Interlock: archives for six systems with checksums,
// an inventory of what is in them (CycloneDX) and a statement of how they were made (SLSA), packages for Debian, RPM, Homebrew
// and npm, what runs the server in a container, with compose or in Kubernetes, a plugin for Claude Code, man pages and shell
// completions. `make release` runs it. Two runs from the same commit make the same bytes.
//
// The version is written in embedded/version.go and nowhere else. MODULE=host/owner/interlock has the tree's module path
// rewritten first, in a copy, and a program outside of it built against the result. Start with main.go; files are in ./files.
package main
