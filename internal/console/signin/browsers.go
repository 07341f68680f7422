package signin

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
)

// makes are browsers and systems by what is in the name they send, those first that send the others' names as well.
var (
	makes = [][2]string{{"Edg", "Edge"}, {"OPR", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox", "Firefox"}, {"FxiOS", "Firefox"},
		{"CriOS", "Chrome"}, {"HeadlessChrome", "Chromium"}, {"Chrome", "Chrome"}, {"Version", "Safari"}}
	systems = [][2]string{{"iPhone", "an iPhone"}, {"iPad", "an iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Mac OS X", "a Mac"}, {"Linux", "Linux"}}
	release = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^/(\d+)`)
	})
)

// BrowserName says what a browser is that calls itself so: browsers call themselves by each other's names. One that can't be told
// is called what it calls itself.
func BrowserName(agent string) string {
	name, system := "", ""
	for _, one := range makes {
		if _, rest, found := strings.Cut(agent, one[0]); found && release().MatchString(rest) {
			name = one[1] + " " + release().FindStringSubmatch(rest)[1]
			break
		}
	}
	for _, one := range systems {
		if strings.Contains(agent, one[0]) {
			system = " on " + one[1]
			break
		}
	}
	if name == "" || system == "" {
		return cmp.Or(agent, "a browser without a name")
	}
	return name + system
}
