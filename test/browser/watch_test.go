package browser_test

import (
	"strings"
	"testing"
)

// TestTheFeedIsLive: what an agent does appears on the page by itself, under the filter that somebody just typed, and so
// does what waits.
func TestTheFeedIsLive(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ada := newPage(t, startChromium(t), h.origin, device{})
	ada.enrol(h.link("operator", "add", "ada", "--role", "admin", "--enrol"), "ada")
	builder := h.overStdio("builder")
	builder.begins()
	ada.open("/feed")
	ada.sees("new ones appear by themselves")
	builder.asks("git push --force origin release")
	ada.sees("git push --force origin release")
	ada.sees("1 action waits for an answer")
	ada.writes(`//input[@name="q"]`, "npm")
	ada.awaits("the filter to take hold", func() bool {
		var at string
		ada.evaluate("location.search", &at)
		return strings.Contains(at, "q=npm") && !strings.Contains(ada.text(), "git push")
	})
	builder.step("git push --force origin hidden")
	builder.step("npm publish")
	ada.sees("npm publish")
	ada.misses("origin hidden")
	ada.quiet()
}

// TestTheBrowserChecksAReceiptByItself: the page's script proves an event from its bytes, and finds each part that was
// changed on the way.
func TestTheBrowserChecksAReceiptByItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ada := newPage(t, startChromium(t), h.origin, device{})
	ada.enrol(h.link("operator", "add", "ada", "--role", "admin", "--enrol"), "ada")
	builder := h.overStdio("builder")
	builder.begins()
	builder.asks("git push --force origin release")
	builder.step("npm publish")
	ada.open("/feed")
	ada.follows(`//li[contains(., "npm publish")]/a`)
	ada.sees("hashes lead from the event's bytes to the checkpoint's root, and the key signed the checkpoint")
	for change, want := range map[string]string{
		`d.event = btoa(atob(d.event).replace("npm publish", "npm install"))`:                                         "the event's bytes hash to",
		`d.event = ""; d.leaf = d.leaf.slice(0, -2) + (d.leaf.endsWith("00") ? "01" : "00")`:                          "the path does not lead to the signed root",
		`d.index = String(Number(d.index) - 1)`:                                                                       "the path does not lead to the signed root",
		`d.path = d.path.split(" ").slice(1).join(" ")`:                                                               "the path does not lead to the signed root",
		`d.signed = d.signed.replace(/(.)(.{10})=\n$/, (all, one, rest) => (one === "A" ? "B" : "A") + rest + "=\n")`: "the checkpoint is not signed by the key",
		`d.size = String(Number(d.size) + 1)`:                                                                         "the checkpoint is of another size",
		`d.event = ""`:                                                                                                "holds: ",
	} {
		var said string
		ada.evaluate(`(async () => {
			const panel = document.querySelector("[data-proof]"), kept = {...panel.dataset}, d = panel.dataset;
			`+change+`;
			const result = panel.querySelector("[data-result]");
			result.textContent = "";
			const script = document.createElement("script");
			script.src = "/static/proof.js";
			document.body.append(script);
			while (!result.textContent) await new Promise((done) => setTimeout(done, 10));
			Object.assign(panel.dataset, kept);
			return result.textContent;
		})()`, &said)
		if !strings.Contains(said, want) {
			t.Errorf("%s: the browser says %q, want %q", change, said, want)
		}
	}
	ada.quiet()
}
