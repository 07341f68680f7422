package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"interlock/test/wait"
)

// hostileFlag makes this program a server behind the gateway that does not keep to the protocol, in one of the ways of
// hostileServers.
const hostileFlag = "-hostile-server"

// A hostileServer speaks as it likes. say writes as it stands; in gives what the gateway sent.
type hostileServer struct {
	in  *bufio.Reader
	out io.Writer
}

type heardMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (s *hostileServer) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// hear returns the gateway's next message, or ends the program with it.
func (s *hostileServer) hear() heardMessage {
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var m heardMessage
		if json.Unmarshal(line, &m) == nil {
			return m
		}
	}
}

// behave answers the handshake and lists one tool, t; what is called is the caller's.
func (s *hostileServer) behave(m heardMessage) (call bool) {
	switch {
	case m.ID == nil:
	case m.Method == "initialize":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"h","version":"1"}}}`, m.ID)
	case m.Method == "tools/list":
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}`, m.ID)
	case m.Method == "tools/call":
		return true
	default:
		s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	}
	return false
}

// calls serves until the gateway hangs up, and leaves what is called to each.
func (s *hostileServer) calls(each func(m heardMessage)) {
	for {
		if m := s.hear(); s.behave(m) {
			each(m)
		}
	}
}

const done = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`

// hostileServers are the ways not to be a server, by name.
var hostileServers = map[string]func(s *hostileServer){
	"silent": func(s *hostileServer) { // it reads, and never says a word
		for {
			s.hear()
		}
	},
	"garbage": func(s *hostileServer) { // nothing it says is a message
		for {
			m := s.hear()
			s.say("\x00\xff\xfe{{{]]]")
			s.say(`{"jsonrpc":"2.0","id":%s,"id":%s,"result":{}}`, m.ID, m.ID)
			s.say(`[{"jsonrpc":"2.0","id":%s,"result":{}}]`, m.ID)
			s.say("%s", strings.Repeat("[", 100_000))
		}
	},
	"strange": func(s *hostileServer) { // it speaks a protocol of its own
		for {
			if m := s.hear(); m.ID != nil {
				s.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":19990101,"capabilities":[],"serverInfo":"h"}}`, m.ID)
			}
		}
	},
	"huge": func(s *hostileServer) { // an answer larger than any may be
		s.calls(func(m heardMessage) {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, strings.Repeat("x", 20<<20))
		})
	},
	"wide": func(s *hostileServer) { // a list larger than any may be
		for {
			if m := s.hear(); m.Method != "tools/list" {
				s.behave(m)
			} else {
				s.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","description":"%s","inputSchema":{"type":"object"}}]}}`, m.ID, strings.Repeat("x", 20<<20))
			}
		}
	},
	"endless": func(s *hostileServer) { // a list that has always another page
		for n := 0; ; n++ {
			if m := s.hear(); m.Method != "tools/list" {
				s.behave(m)
			} else {
				s.say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}}`, m.ID, n, n)
			}
		}
	},
	"twice": func(s *hostileServer) { // every answer comes twice, and before it those to requests nobody made
		s.calls(func(m heardMessage) {
			for n := range 200 {
				if id := fmt.Sprint(n); id != string(m.ID) {
					s.say(done, id)
				}
			}
			s.say(`{"jsonrpc":"2.0","id":"x","result":{}}`)
			s.say(`{"jsonrpc":"2.0","id":1e300,"result":{}}`)
			s.say(done, m.ID)
			s.say(done, m.ID)
			s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, m.ID)
		})
	},
	"late": func(s *hostileServer) { // answers come in the order in which nobody asked, the last first
		var waiting []heardMessage
		s.calls(func(m heardMessage) {
			if waiting = append(waiting, m); len(waiting) < 2 {
				return
			}
			for len(waiting) > 0 {
				last := waiting[len(waiting)-1]
				waiting = waiting[:len(waiting)-1]
				s.say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"late %s"}]}}`, last.ID, last.ID)
			}
		})
	},
	"drip": func(s *hostileServer) { // an answer comes byte by byte and never ends
		s.calls(func(m heardMessage) {
			fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":"`, m.ID)
			for {
				wait.Chance(20 * time.Millisecond)
				if _, err := io.WriteString(s.out, "x"); err != nil {
					os.Exit(0)
				}
			}
		})
	},
	"flood": func(s *hostileServer) { // it never stops telling
		s.calls(func(m heardMessage) {
			for {
				s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"%s"}}`, strings.Repeat("x", 1000))
				if _, err := fmt.Fprintln(s.out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`); err != nil {
					os.Exit(0)
				}
			}
		})
	},
	"asking": func(s *hostileServer) { // it asks and asks, always under the same id, and waits for nothing
		s.calls(func(m heardMessage) {
			for range 2000 {
				s.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
				s.say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
			}
			s.say(done, m.ID)
		})
	},
	"deaf": func(s *hostileServer) { // it stops reading
		s.calls(func(heardMessage) { select {} })
	},
	"mortal": func(s *hostileServer) { s.calls(func(heardMessage) { os.Exit(1) }) },
}

func serveHostile(kind string) int {
	serve := hostileServers[kind]
	if serve == nil {
		return 2
	}
	serve(&hostileServer{in: bufio.NewReaderSize(os.Stdin, 1<<20), out: os.Stdout})
	return 0
}
