package web

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/place"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// A locator names a resource: scheme, authority, path, query. What a server makes of one nobody outside knows, so every path that
// it could mean counts where that path is one that matters. Web addresses are requests and are read as such.

// maxLocator bounds how much of a locator is read.
const maxLocator = 4096

// ReadsLocator records what reading a resource would give away, and reports whether there was anything.
func ReadsLocator(w *place.World, locator, via string) bool {
	locator, whole := readable(locator)
	if locator == "" {
		return false
	}
	if !whole {
		w.Unknown(via, fact.TraitOversize)
		return true
	}
	found := false
	if name := secretStore(w, locator); name != "" {
		w.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: name, Reach: interlock.ReachExternal, Via: via,
			Reversibility: interlock.Readonly, Confidence: interlock.Inferred, Traits: []string{fact.TraitSecret}})
		found = true
	}
	for _, path := range locatedPaths(locator) {
		if !w.Spend(1) {
			w.Unknown(via, fact.TraitWork)
			return true
		}
		p := w.Place(path)
		if p.Reach == interlock.ReachSelf || fact.HasTrait(p.Traits, fact.TraitSecret) ||
			fact.HasTrait(p.Traits, fact.TraitEnvironment) || fact.HasTrait(p.Traits, fact.TraitDevice) {
			kind := interlock.ImpactRead
			if scheme, _, _ := SplitScheme(locator); p.Reach == interlock.ReachSelf && connects.Has(scheme) {
				kind = interlock.ImpactWrite // who connects to something does more than look at it
			}
			w.Touch(path, interlock.Impact{Kind: kind, Via: via})
			found = true
		}
	}
	return found
}

// readable is as much of a text as may be a locator, empty where it is none, and whether that is all that matters of it. A long
// query or a line break, which is dropped when the locator is resolved, must not hide the path before it.
func readable(text string) (locator string, whole bool) {
	locator = strings.TrimSpace(text)
	if len(locator) <= maxLocator && !strings.Contains(locator, "\n") {
		return locator, true
	}
	head := locator[:min(len(locator), maxLocator)]
	scheme, rest, ok := SplitScheme(head)
	if !ok || IsWeb(scheme) || !strings.HasPrefix(rest, "//") {
		return "", true
	}
	head, _, broken := strings.Cut(head, "\n")
	if end := strings.IndexAny(head, "?#"); end >= 0 && len(locator) > maxLocator {
		return head[:end], true
	}
	return head, broken || len(locator) <= maxLocator
}

// SplitScheme cuts a scheme off a locator. A drive letter is none.
func SplitScheme(locator string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(locator, ":")
	if !ok || len(scheme) < 2 || len(scheme) > 64 {
		return "", locator, false
	}
	for i := 0; i < len(scheme); i++ {
		c := scheme[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.') {
			continue
		}
		return "", locator, false
	}
	return strings.ToLower(scheme), rest, true
}

// IsWeb reports whether a scheme is that of requests to a server.
func IsWeb(scheme string) bool {
	switch scheme {
	case "http", "https", "ws", "wss":
		return true
	}
	return false
}

// locatedPaths returns every path that a locator could be read as, whatever it is encoded in or wrapped into.
func locatedPaths(locator string) (paths []string) {
	for range 4 {
		plain := lex.PercentDecode(locator)
		if plain == locator {
			break
		}
		locator = plain
	}
	locator, _, _ = strings.Cut(locator, "\x00")
	scheme, schemed := "", false
	for range 4 { // view-source:file:, jar:file:, git+file:
		s, rest, ok := SplitScheme(locator)
		if !ok || IsWeb(s) {
			break
		}
		scheme, locator, schemed = s, rest, true
	}
	if s, _, ok := SplitScheme(locator); ok && IsWeb(s) {
		return nil
	}
	switch scheme {
	case "data", "mailto", "urn", "javascript", "about", "tel":
		return nil
	}
	locator = strings.ReplaceAll(locator, `\`, "/")
	body, query, _ := strings.Cut(locator, "?")
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		_, value, _ := strings.Cut(pair, "=")
		if value != "" && (lex.BeginsPath(value) || lex.Ascends("/"+value) || strings.HasPrefix(value, ".")) {
			paths = append(paths, value)
		}
	}
	body, _, _ = strings.Cut(body, "#")
	for body != "" {
		var part string
		part, body, _ = strings.Cut(body, "!") // an archive and what is in it
		paths = appendLocated(paths, part, schemed)
	}
	return paths
}

// appendLocated adds the paths of a locator without scheme, query and fragment. What names a server may be the
// beginning of a path as well.
func appendLocated(paths []string, body string, schemed bool) []string {
	rest, hasAuthority := strings.CutPrefix(body, "//")
	switch {
	case !schemed:
		if lex.BeginsPath(body) || lex.Ascends("/"+body) || strings.HasPrefix(body, ".") {
			paths = append(paths, body)
		}
	case hasAuthority:
		authority, path, hasPath := strings.Cut(rest, "/")
		if hasPath && path != "" {
			paths = append(paths, "/"+strings.TrimLeft(path, "/"))
		}
		if authority != "" && !strings.EqualFold(authority, "localhost") {
			paths = append(paths, rest, "/"+rest)
		}
	case body != "":
		paths = append(paths, body)
	}
	return paths
}

// secretStore returns what a locator names in a store of secrets or in the environment, or "".
func secretStore(w *place.World, locator string) string {
	scheme, rest, ok := SplitScheme(locator)
	if !ok || IsWeb(scheme) {
		return ""
	}
	rest = strings.TrimLeft(rest, "/")
	subjects := w.Know.ToolTable().Subjects
	words := lex.NameWords(scheme)
	for _, word := range words {
		if subjects[word] == "secret" || secretStores.Has(word) {
			return locator
		}
		if (word == "env" || word == "environ" || word == "environment") &&
			(rest == "" || rest == "*" || inject.SpeaksOfSecret(rest) || strings.Contains(strings.ToLower(rest), "key")) {
			return locator
		}
	}
	for _, word := range words {
		if !cloudSchemes.Has(word) {
			continue
		}
		for part := range strings.SplitSeq(rest, "/") {
			if low := strings.ToLower(part); subjects[low] == "secret" || secretStores.Has(low) {
				return locator
			}
		}
	}
	return ""
}

var (
	// connects are schemes of what is opened for reading and writing.
	connects = lex.Set([]string{"unix", "sqlite", "sqlite3", "duckdb", "ipc", "npipe", "unix+http", "http+unix",
		"grpc+unix", "jdbc"})
	// secretStores are names of what keeps secrets, as schemes have them.
	secretStores = lex.Set([]string{"secretsmanager", "secretmanager", "keyvault", "keyring", "kms", "passwords", "password",
		"onepassword", "op", "bitwarden", "lastpass",
		"keepass", "doppler", "infisical", "keystore", "wallet", "creds"})
	// cloudSchemes are those of places that keep secrets beside much else.
	cloudSchemes = lex.Set([]string{"k8s", "kubernetes", "kube", "aws", "gcp", "azure", "gcloud", "consul", "etcd", "config",
		"docker", "swarm", "nomad", "ssm", "heroku", "vercel",
		"netlify", "github", "gitlab"})
)
