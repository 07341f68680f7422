package shell

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// A composeService is what the file of docker compose says of one container, as far as it concerns this machine.
type composeService struct {
	image, command   string
	mounts           []string
	privileged, host bool
}

// composeRecipe returns the containers of a compose file that get something of this machine, each as the docker run that
// would start it. The others are their own affair.
func composeRecipe(text string) string {
	var out strings.Builder
	var service composeService
	inside, depth, list := false, -1, ""
	for line := range strings.SplitSeq(text+"\nend:", "\n") {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		item, isItem := strings.CutPrefix(bare, "- ")
		key, value, _ := strings.Cut(item, ":")
		value = strings.TrimSpace(value)
		switch {
		case bare == "" || bare[0] == '#' || out.Len() > maxRecipe:
		case indent == 0:
			service.start(&out)
			service, inside, depth = composeService{}, key == "services", -1
		case !inside:
		case depth < 0 || indent <= depth && !isItem:
			service.start(&out)
			service, depth, list = composeService{}, indent, ""
		case isItem && (list == "volumes" || list == "command"):
			service.add(list, yamlText(item))
		case list == "volumes" && key == "source":
			service.add(list, yamlText(value)+":/mnt")
		case !isItem:
			list = key
			service.property(key, value)
		}
	}
	return out.String()
}

// property notes what a key of a service says.
func (s *composeService) property(key, value string) {
	switch key {
	case "image":
		s.image = yamlText(value)
	case "privileged":
		s.privileged = value == "true"
	case "pid", "ipc", "userns_mode":
		s.host = s.host || yamlText(value) == "host"
	case "command", "volumes", "entrypoint":
		items, _, _ := lex.LiteralArguments(value, 0)
		if !strings.HasPrefix(value, "[") {
			items = nil
			if key != "volumes" && value != "" {
				s.command = strings.TrimSpace(s.command + " " + yamlText(value))
			}
		}
		for _, item := range items {
			s.add(key, item)
		}
	}
}

// add notes one item of a list.
func (s *composeService) add(list, item string) {
	if list != "volumes" {
		s.command += " " + QuoteAll([]flow.Field{flow.Literal(item)})
		return
	}
	if source, inside, ok := strings.Cut(item, ":"); ok && source == "source" {
		item = strings.TrimSpace(inside) + ":/mnt"
	}
	if item != "" && strings.IndexByte("/~$", item[0]) >= 0 {
		s.mounts = append(s.mounts, item)
	}
}

// start writes the docker run of a service that gets something of this machine.
func (s *composeService) start(out *strings.Builder) {
	if len(s.mounts) == 0 && !s.privileged && !s.host {
		return
	}
	out.WriteString("docker run ")
	if s.privileged {
		out.WriteString("--privileged ")
	}
	if s.host {
		out.WriteString("--pid host ")
	}
	for _, mount := range s.mounts {
		if strings.ContainsAny(mount, " '\"`;|&()") {
			continue
		}
		out.WriteString("-v " + mount + " ")
	}
	if s.image == "" {
		s.image = "image"
	}
	out.WriteString(QuoteAll([]flow.Field{flow.Literal(s.image)}) + " " + s.command + "\n")
}
