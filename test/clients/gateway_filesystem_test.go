package clients

import "testing"

// filesystemAsks is what is asked of server-filesystem: each tool, well and badly.
var filesystemAsks = [][2]string{
	{"list_allowed_directories", `{}`},
	{"read_file", `{"path":"DIR/a.txt"}`},
	{"read_text_file", `{"path":"DIR/a.txt"}`},
	{"read_text_file", `{"path":"DIR/a.txt","head":1}`},
	{"read_text_file", `{"path":"DIR/a.txt","head":1,"tail":1}`},
	{"read_text_file", `{"path":"DIR/nothing.txt"}`},
	{"read_text_file", `{"path":"/usr/share/nothing-of-ours"}`},
	{"read_text_file", `{}`},
	{"read_text_file", `{"path":7}`},
	{"read_media_file", `{"path":"DIR/dot.png"}`},
	{"read_media_file", `{"path":"DIR/tone.mp3"}`},
	{"read_multiple_files", `{"paths":["DIR/a.txt","DIR/nothing.txt","DIR/sub/deep.txt"]}`},
	{"write_file", `{"path":"DIR/b.txt","content":"gämma\n"}`},
	{"read_text_file", `{"path":"DIR/b.txt"}`},
	{"edit_file", `{"path":"DIR/b.txt","edits":[{"oldText":"gämma","newText":"delta"}],"dryRun":true}`},
	{"edit_file", `{"path":"DIR/b.txt","edits":[{"oldText":"gämma","newText":"delta"}]}`},
	{"edit_file", `{"path":"DIR/b.txt","edits":[{"oldText":"nowhere","newText":"x"}]}`},
	{"create_directory", `{"path":"DIR/new/er"}`},
	{"move_file", `{"source":"DIR/b.txt","destination":"DIR/new/c.txt"}`},
	{"move_file", `{"source":"DIR/b.txt","destination":"DIR/new/c.txt"}`},
	{"list_directory", `{"path":"DIR"}`},
	{"list_directory", `{"path":"DIR/a.txt"}`},
	{"list_directory_with_sizes", `{"path":"DIR","sortBy":"size"}`},
	{"directory_tree", `{"path":"DIR","excludePatterns":["*.png"]}`},
	{"search_files", `{"path":"DIR","pattern":"**/*.txt"}`},
	{"get_file_info", `{"path":"DIR/new/c.txt"}`},
}

// TestGatewayChangesNothingOfFilesystem holds what a client gets of server-filesystem through the gateway against what it gets of
// it directly. On standard streams the gateway's verdicts bind meanwhile: this is the ordinary work of an agent of this machine. Of
// an agent with a token that nobody has promoted yet, writing is asked about.
func TestGatewayChangesNothingOfFilesystem(t *testing.T) {
	t.Parallel()
	for _, w := range []way{
		{"stdio", "stdio", "2025-11-25"}, {"http", "stdio", "2025-11-25"}, {"stdio", "stdio", "2024-11-05"},
		{"stdio", "stdio", stateless}, {"http", "stdio", stateless},
	} {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			mode := map[string]string{"stdio": "enforcing", "http": "monitoring"}[w.front]
			p := newPair(t, w, "fs", mode, w.spokenBefore(), steadily(t, "@modelcontextprotocol/server-filesystem/dist/index.js", "DIR"))
			if w.revision != stateless {
				for _, c := range []*plain{p.direct, p.through} { // it takes the client's roots for the directories it may read
					c.until("the client's roots were asked for", func(e rpcMessage) bool { return e.Method == "roots/list" })
				}
			}
			p.same("tools/list", `{}`)
			for _, ask := range filesystemAsks {
				p.same("tools/call", `{"name":"NAME.`+ask[0]+`","arguments":`+ask[1]+`}`)
			}
			p.unasked()
			p.complete()
		})
	}
}
