package place

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// What a place is worth, beyond what its patterns say.

// EmptyFolder is a place where a folder is made and nothing put into it: it holds no secret yet and nothing that would run or
// be obeyed. Whose the place is stays as it is.
func EmptyFolder(p know.Place) know.Place {
	kept := make([]string, 0, len(p.Traits))
	for _, trait := range p.Traits {
		switch trait {
		case fact.TraitSecret, fact.TraitStartup, fact.TraitAgentConfig, fact.TraitAccount, fact.TraitBoot, fact.TraitHistory,
			fact.TraitLog, fact.TraitDefence, fact.TraitCI:
		default:
			kept = append(kept, trait)
		}
	}
	p.Traits = kept
	return p
}

// singleLabel reports whether a host's name has no dot, as containers beside this one and machines of the same network have.
func singleLabel(name string) bool {
	if len(name) < 2 || len(name) > 63 || !lex.IsNameStart(name[0]) || name[0] == '_' {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !lex.IsNameStart(c) && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// nearby reports whether what names a machine is an address of the web, a port, or a place there that is not its system's own;
// a mere name may be a remote of Git, a bucket or anything else.
func nearby(address string) bool {
	if strings.ContainsAny(address, `\`) {
		return false
	}
	scheme, _, isURL := strings.Cut(address, "://")
	if isURL {
		switch strings.ToLower(scheme) {
		case "http", "https", "ws", "wss", "ftp", "sftp", "tcp", "grpc", "redis", "mysql", "postgres", "postgresql",
			"mongodb", "amqp", "mqtt":
			return true
		}
		return false
	}
	_, where, ok := strings.Cut(address, ":")
	if !ok || !strings.HasPrefix(where, "/") {
		return ok
	}
	first, _, _ := strings.Cut(where[1:], "/")
	switch first {
	case "", "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var":
		return false
	}
	return true
}
