package web

import (
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
	"interlock/internal/secret"
)

// Request records what one HTTP request does. It serves http actions, URL arguments of tools and calls in code.
func Request(w *place.World, method, url string, headers []string, body string) {
	if len(url) > 64<<10 {
		w.Unknown("http", fact.TraitOversize)
		return
	}
	w.Executes(interlock.KindHTTP, method+" "+url)
	if otherScheme(w, method, url) {
		return
	}
	plain, odd := PlainHost(url)
	reach, traits := w.Host(plain)
	if odd {
		traits = append(traits, fact.TraitObfuscated)
	}
	if internal := innerURL(url); internal != "" {
		if _, inner := w.Host(internal); fact.HasTrait(inner, fact.TraitMetadata) || linkLocal(internal) {
			traits = append(traits, fact.TraitMetadata, fact.TraitInjection)
		}
	}
	if linkLocal(plain) {
		traits = append(traits, fact.TraitMetadata)
	}
	if hidden, climbs := place.PlainPath(pathOf(url)); climbs || strings.Contains(hidden, "/../../") {
		traits = append(traits, fact.TraitInjection)
	}
	i := interlock.Impact{Kind: interlock.ImpactWrite, Target: know.CleanURL(url), Reach: reach,
		Via: "HTTP " + method, Traits: traits,
		Reversibility: interlock.Window}
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY":
		i.Kind, i.Reversibility = interlock.ImpactRead, interlock.Readonly
	case "DELETE":
		i.Kind, i.Reversibility = interlock.ImpactDelete, interlock.Irreversible
	}
	if reach == interlock.ReachWorkspace && i.Kind == interlock.ImpactWrite {
		i.Reversibility = interlock.Reversible
	}
	i.Traits = append(i.Traits, queryTraits(url)...)
	ServiceAPI(w, &i, method, url, body)
	if body != "" && reach != interlock.ReachWorkspace && i.Kind != interlock.ImpactRead {
		i.Traits = append(i.Traits, fact.TraitUpload)
	}
	w.Add(i)
	// which is sent, see below
	if reach != interlock.ReachWorkspace && TellsToken(url, place.HostOf(url)) && PlainSecret(url) == "" {
		w.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: "a token", Reach: reach, Via: "HTTP " + method,
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred,
			Traits: []string{fact.TraitSecret, fact.TraitUpload}})
	}
	if i.Kind == interlock.ImpactWrite && reach != interlock.ReachWorkspace && Pays(url, body) {
		w.Add(interlock.Impact{Kind: interlock.ImpactSpend, Target: know.CleanURL(url), Reach: reach, Via: "HTTP " + method,
			Reversibility: interlock.Window,
			Confidence:    interlock.Inferred})
	}
	if reach == interlock.ReachExternal && Speaks(url, i.Kind != interlock.ImpactRead) {
		w.Add(interlock.Impact{Kind: interlock.ImpactMessage, Target: place.HostOf(url), Reach: reach, Via: "HTTP " + method,
			Reversibility: interlock.Irreversible, Confidence: interlock.Inferred})
	}
	if fact.HasTrait(traits, fact.TraitMetadata) {
		w.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: know.CleanURL(url), Reach: reach, Via: "HTTP " + method,
			Reversibility: interlock.Readonly, Traits: []string{fact.TraitMetadata, fact.TraitSecret}})
	}
	requestCarries(w, method, url, reach, headers, body)
}

// otherScheme reads URLs that are no requests to a web server: a file of this machine, and schemes that carry raw bytes to
// whatever listens, which nothing but a forged request uses.
func otherScheme(w *place.World, method, url string) bool {
	if outer, inner, ok := SplitScheme(url); ok && !IsWeb(outer) && outer != "file" && ReadsLocator(w, url, "HTTP "+method) {
		return true
	} else if ok && outer == "view-source" {
		return otherScheme(w, method, inner)
	}
	scheme, rest, ok := strings.Cut(strings.ToLower(url[:min(len(url), 16)]), ":")
	if !ok {
		return false
	}
	switch scheme {
	case "file":
		path := strings.TrimPrefix(url[len("file:"):], "//")
		w.Touch(strings.TrimPrefix(path, "localhost"), interlock.Impact{Kind: interlock.ImpactRead, Via: "HTTP " + method})
		return true
	case "gopher", "dict", "ldap", "ldaps", "tftp", "jar", "netdoc", "phar", "expect":
		if strings.HasPrefix(rest, "//") || scheme == "jar" || scheme == "expect" {
			w.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: know.CleanURL(url), Reach: interlock.ReachExternal,
				Via:           "HTTP " + method,
				Reversibility: interlock.Irreversible, Traits: []string{fact.TraitInjection, fact.TraitUpload}})
			return true
		}
	}
	return false
}

// ServiceAPI reads what is known of the interfaces of common services, wherever they listen: whole indices of a search engine,
// secrets of a cluster, containers that are given the host's files.
func ServiceAPI(w *place.World, i *interlock.Impact, method, url, body string) {
	path := strings.ToLower(pathOf(url))
	writes := i.Kind != interlock.ImpactRead
	switch {
	case writes && (strings.Contains(path, "_delete_by_query") || method == "DELETE" &&
		(path == "/_all" || path == "/*" || strings.HasSuffix(path, "/_all"))):
		i.Kind, i.Reversibility = interlock.ImpactDelete, interlock.Irreversible
		i.Traits = append(i.Traits, fact.TraitDatabase, fact.TraitBulk)
	case strings.HasPrefix(path, "/api/v1/") && (strings.HasSuffix(path, "/secrets") || strings.Contains(path, "/secrets/")) &&
		(strings.Contains(path, "/namespaces/") || path == "/api/v1/secrets"):
		w.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: know.CleanURL(url), Reach: i.Reach, Via: i.Via,
			Reversibility: interlock.Readonly, Traits: []string{fact.TraitSecret}})
	case writes && strings.HasSuffix(path, "/containers/create") &&
		(strings.Contains(body, `"Privileged":true`) || strings.Contains(body, `"Privileged": true`) ||
			strings.Contains(body, `"/:`) ||
			strings.Contains(body, "docker.sock") || strings.Contains(body, `"/etc`) ||
			strings.Contains(body, `"PidMode":"host"`)):
		w.Add(interlock.Impact{Kind: interlock.ImpactPrivilege, Target: know.CleanURL(url), Reach: interlock.ReachSystem,
			Via: i.Via, Reversibility: interlock.Window, Traits: []string{fact.TraitRoot}})
	case writes && Administers(url):
		i.Reversibility = interlock.Irreversible
	case writes && i.Reach == interlock.ReachExternal && strings.Contains(path, "graphql") && graphQuery(body):
		i.Kind, i.Reversibility = interlock.ImpactRead, interlock.Readonly
	}
}

// graphQuery reports whether a GraphQL body only asks.
func graphQuery(body string) bool {
	return body != "" && len(body) < 64<<10 && !strings.Contains(body, "mutation") && !strings.Contains(body, "subscription") &&
		strings.Contains(body, "{") && strings.Contains(body, "query")
}

// requestCarries records secrets a request carries to where they could leak: in the URL, in the body, and in a header if the
// connection is in the clear. An Authorization header over TLS is how requests are made.
func requestCarries(w *place.World, method, url string, reach interlock.Reach, headers []string, body string) {
	if reach == interlock.ReachWorkspace {
		return
	}
	_, named, _ := strings.Cut(url, "://") // a link's own token="…" is how links are shared; a key with an issuer's form is not
	_, named, _ = strings.Cut(named, "/")
	kind := PlainSecret(lex.PercentDecode(named))
	if kind == "" {
		kind = PlainSecret(body)
	}
	if authority, _, _ := strings.Cut(strings.TrimPrefix(url[strings.Index(url, "//")+1:], "/"), "/"); strings.Contains(authority,
		"@") && len(secret.Suspect(url)) > 0 {
		w.Add(interlock.Impact{Kind: interlock.ImpactCredential, Target: know.CleanURL(url), Reach: reach, Via: "HTTP " + method,
			Reversibility: interlock.Readonly, Traits: []string{fact.TraitSecret}})
	}
	if strings.HasPrefix(strings.ToLower(url), "http://") {
		for _, h := range headers {
			if spans := secret.Suspect(h); kind == "" && len(spans) > 0 {
				kind = spans[0].Kind
			}
		}
	}
	if kind != "" {
		w.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: know.CleanURL(url), Reach: reach,
			Via:           "HTTP " + method + " " + kind,
			Reversibility: interlock.Irreversible, Traits: []string{fact.TraitSecretSend, fact.TraitUpload}})
	}
}

func HeaderTexts(value any) (lines []string) {
	switch headers := value.(type) {
	case map[string]any:
		for _, name := range lex.SortedNames(headers) {
			if text, ok := headers[name].(string); ok {
				lines = append(lines, name+": "+text)
			}
		}
	case []any:
		for _, item := range headers {
			if text, ok := item.(string); ok {
				lines = append(lines, text)
			}
		}
	case string:
		lines = strings.Split(headers, "\n")
	}
	return lines
}

// queryTraits reads switches in a query string: force, recursive, purge.
func queryTraits(url string) (traits []string) {
	_, query, _ := strings.Cut(url, "?")
	query, _, _ = strings.Cut(query, "#")
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && value != "1" && !strings.EqualFold(value, "true") && !strings.EqualFold(value, "yes") &&
			!strings.EqualFold(value, "background") {
			continue
		}
		switch lex.Fold(name) {
		case "force", "override", "skipvalidation", "bypass", "ignorewarnings", "permanent":
			traits = append(traits, fact.TraitForce)
		case "recursive", "cascade", "propagationpolicy":
			traits = append(traits, fact.TraitRecursive)
		case "purge", "all", "deleteall":
			traits = append(traits, fact.TraitBulk)
		case "dryrun":
			traits = append(traits, fact.TraitDryRun)
		}
	}
	return traits
}

// innerURL returns a URL that a query parameter carries, as request forgery through a proxy or redirect would.
func innerURL(url string) string {
	_, query, found := strings.Cut(url, "?")
	if !found {
		return ""
	}
	query = lex.PercentDecode(lex.PercentDecode(query))
	i := strings.Index(query, "://")
	if i < 0 {
		return ""
	}
	start := i
	for start > 0 && (query[start-1]|0x20 >= 'a' && query[start-1]|0x20 <= 'z') {
		start--
	}
	inner, _, _ := strings.Cut(query[start:], "&")
	plain, _ := PlainHost(inner)
	return plain
}

func linkLocal(url string) bool {
	host := place.HostOf(url)
	return strings.HasPrefix(host, "169.254.") || strings.HasPrefix(host, "[fe80:") || strings.HasPrefix(host, "[fd00:ec2:")
}

func pathOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	rest, _, _ = strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	return "/" + path
}

// PlainHost rewrites a URL whose host is an IPv4 address in a spelling that resolvers take and filters miss: decimal,
// octal, hexadecimal, short, IPv6-mapped, fullwidth digits or dots. odd says that it was.
func PlainHost(url string) (plain string, odd bool) {
	host := place.HostOf(url)
	bare, port := host, ""
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return url, false
		}
		bare, port = host[1:end], host[end+1:]
		address, mapped := mappedIPv4(bare)
		if !mapped {
			return url, false
		}
		return rebuild(url, address+port), true
	}
	if i := strings.IndexByte(host, ':'); i >= 0 {
		bare, port = host[:i], host[i:]
	}
	folded := FoldWide(bare)
	address, ok := LooseIPv4(strings.TrimSuffix(folded, "."))
	if !ok || address == bare {
		return url, folded != bare
	}
	return rebuild(url, address+port), true
}

func rebuild(url, host string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		scheme, rest = "http", url
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return scheme + "://" + host + rest[i:]
	}
	return scheme + "://" + host
}

// FoldWide turns fullwidth and circled digits, letters and dots to ASCII.
func FoldWide(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 0xff01 && r <= 0xff5e:
			out.WriteRune(r - 0xff01 + '!')
		case r >= 0x2460 && r <= 0x2468:
			out.WriteRune(r - 0x2460 + '1')
		case r == 0x24ea:
			out.WriteByte('0')
		case r == 0x3002 || r == 0xff61:
			out.WriteByte('.')
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// LooseIPv4 reads an IPv4 address as inet_aton does: one to four numbers in any base.
func LooseIPv4(name string) (string, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 || name == "" {
		return "", false
	}
	var value uint64
	for n, part := range parts {
		number, err := strconv.ParseUint(part, 0, 32)
		if err != nil || strings.ContainsAny(part, "_bBoO") {
			return "", false
		}
		if n < len(parts)-1 {
			if number > 255 {
				return "", false
			}
			value = value<<8 | number
			continue
		}
		bits := uint(8 * (5 - len(parts)))
		if number >= 1<<bits {
			return "", false
		}
		value = value<<bits | number
	}
	return dotted(value), true
}

func dotted(value uint64) string {
	out := make([]byte, 0, 15)
	for shift := 24; shift >= 0; shift -= 8 {
		out = strconv.AppendUint(out, value>>shift&255, 10)
		if shift > 0 {
			out = append(out, '.')
		}
	}
	return string(out)
}

// mappedIPv4 reads ::ffff:a.b.c.d and ::ffff:hhhh:hhhh.
func mappedIPv4(name string) (string, bool) {
	low := strings.ToLower(name)
	rest, ok := strings.CutPrefix(low, "::ffff:")
	if !ok {
		if rest, ok = strings.CutPrefix(low, "0:0:0:0:0:ffff:"); !ok {
			return "", false
		}
	}
	if strings.Contains(rest, ".") {
		return LooseIPv4(rest)
	}
	high, lowPart, found := strings.Cut(rest, ":")
	a, errA := strconv.ParseUint(high, 16, 16)
	b, errB := strconv.ParseUint(lowPart, 16, 16)
	if !found || errA != nil || errB != nil {
		return "", false
	}
	return dotted(a<<16 | b), true
}
