package secret

import "sync"

// An alphabet is a set of bytes a token's tail is made of.
type alphabet uint16

const (
	digit alphabet = 1 << iota
	lowerHex
	upperHex
	lower
	upper
	dash       // -
	under      // _
	dot        // .
	base64More // + /
	equals     // =
	tilde      // ~
	colon      // :
	atSign     // @
	dollar     // $

	hexDigits = digit | lowerHex | upperHex
	alnum     = digit | lower | upper
	urlSafe   = alnum | dash | under
	base64    = alnum | base64More | equals
)

// A form is a token that begins with a fixed literal. The run of tail characters after it must be least to most long;
// most 0 is no bound. loose tokens must also look random, because their literal alone is common.
type form struct {
	kind        string
	literal     string
	tail        alphabet
	least, most int
	loose       bool
}

// forms lists tokens whose issuers gave them a recognisable beginning.
var forms = [...]form{
	{"aws-key", "AKIA", digit | upper, 16, 16, false},
	{"aws-key", "ASIA", digit | upper, 16, 16, false},
	{"aws-key", "ABIA", digit | upper, 16, 16, false},
	{"aws-key", "ACCA", digit | upper, 16, 16, false},
	{"aws-key", "A3T", digit | upper, 17, 17, false},
	{"aws-key", "ABSK", base64, 100, 300, false},
	{"aws-key", "bedrock-api-key-", base64, 20, 0, false},
	{"github-token", "ghp_", alnum, 30, 255, false},
	{"github-token", "gho_", alnum, 30, 255, false},
	{"github-token", "ghu_", alnum, 30, 255, false},
	{"github-token", "ghs_", urlSafe | dot, 30, 1024, false},
	{"github-token", "ghr_", alnum, 30, 255, false},
	{"github-token", "github_pat_", alnum | under, 40, 255, false},
	{"gitlab-token", "glpat-", urlSafe | dot, 18, 300, false},
	{"gitlab-token", "gldt-", urlSafe, 20, 64, false},
	{"gitlab-token", "glrt-", urlSafe | dot, 18, 300, false},
	{"gitlab-token", "glrtr-", urlSafe, 18, 64, false},
	{"gitlab-token", "glft-", urlSafe, 18, 64, false},
	{"gitlab-token", "glsoat-", urlSafe, 18, 50, false},
	{"gitlab-token", "glcbt-", urlSafe, 18, 80, false},
	{"gitlab-token", "glptt-", hexDigits, 40, 40, false},
	{"gitlab-token", "glimt-", urlSafe, 18, 64, false},
	{"gitlab-token", "gloas-", urlSafe, 64, 64, false},
	{"gitlab-token", "glagent-", urlSafe, 30, 80, false},
	{"gitlab-token", "glwt-", urlSafe, 18, 64, false},
	{"gitlab-token", "glffct-", urlSafe, 18, 64, false},
	{"gitlab-token", "GR1348941", urlSafe, 18, 50, false},
	{"gitlab-token", "_gitlab_session=", alnum, 24, 64, false},
	{"slack-token", "xoxb-", urlSafe, 20, 300, false},
	{"slack-token", "xoxp-", urlSafe, 20, 300, false},
	{"slack-token", "xoxa-", urlSafe, 20, 300, false},
	{"slack-token", "xoxr-", urlSafe, 20, 300, false},
	{"slack-token", "xoxs-", urlSafe, 20, 300, false},
	{"slack-token", "xoxo-", urlSafe, 20, 300, false},
	{"slack-token", "xoxe-", urlSafe, 20, 300, false},
	{"slack-token", "xoxe.", urlSafe | dot, 20, 300, false},
	{"slack-token", "xapp-", urlSafe, 20, 300, false},
	{"slack-webhook", "hooks.slack.com/services/", alnum | base64More, 30, 100, false},
	{"slack-webhook", "hooks.slack.com/workflows/", alnum | base64More, 30, 120, false},
	{"slack-webhook", "hooks.slack.com/triggers/", alnum | base64More, 30, 120, false},
	{"stripe-key", "sk_live_", alnum, 10, 250, false},
	{"stripe-key", "sk_test_", alnum, 10, 250, false},
	{"stripe-key", "sk_prod_", alnum, 10, 250, false},
	{"stripe-key", "rk_live_", alnum, 10, 250, false},
	{"stripe-key", "rk_test_", alnum, 10, 250, false},
	{"stripe-key", "rk_prod_", alnum, 10, 250, false},
	{"stripe-key", "whsec_", alnum | base64More, 24, 100, false},
	{"anthropic-key", "sk-ant-", urlSafe, 24, 200, false},
	{"openai-key", "sk-proj-", urlSafe, 24, 250, false},
	{"openai-key", "sk-svcacct-", urlSafe, 24, 250, false},
	{"openai-key", "sk-admin-", urlSafe, 24, 250, false},
	{"openrouter-key", "sk-or-v1-", alnum, 32, 100, false},
	{"openai-key", "sk-", urlSafe, 32, 250, true},
	{"npm-token", "npm_", alnum, 36, 40, false},
	{"pypi-token", "pypi-", urlSafe, 50, 1000, false},
	{"google-key", "AIza", urlSafe, 35, 35, false},
	{"google-token", "ya29.", urlSafe | dot, 20, 500, false},
	{"google-token", "GOCSPX-", urlSafe, 20, 60, false},
	{"google-token", "1//0", urlSafe, 40, 200, false},
	{"azure-key", "AccountKey=", base64, 40, 120, false},
	{"azure-key", "SharedAccessKey=", base64, 40, 120, false},
	{"sendgrid-key", "SG.", urlSafe | dot, 60, 80, true},
	{"sendinblue-key", "xkeysib-", alnum | dash, 60, 100, false},
	{"mailgun-key", "key-", hexDigits, 32, 32, false},
	{"mailgun-key", "pubkey-", hexDigits, 32, 32, false},
	{"digitalocean-token", "dop_v1_", hexDigits, 64, 64, false},
	{"digitalocean-token", "doo_v1_", hexDigits, 64, 64, false},
	{"digitalocean-token", "dor_v1_", hexDigits, 64, 64, false},
	{"huggingface-token", "hf_", alnum, 33, 40, false},
	{"llamacloud-key", "llx-", alnum, 40, 60, false},
	{"together-key", "tgp_v1_", urlSafe, 40, 48, false},
	{"posthog-key", "phs_", alnum, 40, 60, false},
	{"posthog-key", "phx_", alnum, 40, 60, false},
	{"sonar-token", "squ_", hexDigits, 40, 40, false},
	{"sonar-token", "sqp_", hexDigits, 40, 40, false},
	{"sonar-token", "sqa_", hexDigits, 40, 40, false},
	{"web-token", "ZXlK", base64, 60, 8192, false}, // a web token encoded once more
	{"huggingface-token", "api_org_", alnum, 34, 40, true},
	{"shopify-token", "shpat_", hexDigits, 32, 64, false},
	{"shopify-token", "shpca_", hexDigits, 32, 64, false},
	{"shopify-token", "shppa_", hexDigits, 32, 64, false},
	{"shopify-token", "shpss_", hexDigits, 32, 64, false},
	{"square-token", "EAAA", urlSafe, 22, 70, true},
	{"square-token", "sq0atp-", urlSafe, 22, 60, false},
	{"square-token", "sq0csp-", urlSafe, 22, 60, false},
	{"planetscale-token", "pscale_tkn_", urlSafe | dot | equals, 30, 70, false},
	{"planetscale-token", "pscale_pw_", urlSafe | dot | equals, 30, 70, false},
	{"planetscale-token", "pscale_oauth_", urlSafe | dot | equals, 30, 70, false},
	{"databricks-token", "dapi", hexDigits | dash, 32, 34, false},
	{"doppler-token", "dp.pt.", alnum, 40, 50, false},
	{"doppler-token", "dp.st.", alnum | dot | under | dash, 40, 80, false},
	{"linear-key", "lin_api_", alnum, 40, 40, false},
	{"figma-token", "figd_", urlSafe, 30, 60, false},
	{"newrelic-key", "NRAK-", alnum, 27, 27, false},
	{"newrelic-key", "NRII-", urlSafe, 30, 40, false},
	{"newrelic-key", "NRJS-", hexDigits, 19, 19, false},
	{"newrelic-key", "NRAA-", hexDigits, 27, 27, false},
	{"posthog-key", "phr_", urlSafe, 40, 60, false},
	{"posthog-key", "phc_", urlSafe, 40, 50, false},
	{"posthog-key", "phx_", urlSafe, 40, 60, false},
	{"rubygems-key", "rubygems_", hexDigits, 48, 48, false},
	{"crates-token", "cio", alnum, 32, 32, true},
	{"pulumi-token", "pul-", hexDigits, 40, 40, false},
	{"vault-token", "hvs.", urlSafe, 24, 200, false},
	{"vault-token", "hvb.", urlSafe, 100, 400, false},
	{"tailscale-key", "tskey-", urlSafe, 20, 100, false},
	{"easypost-key", "EZAK", alnum, 54, 54, false},
	{"easypost-key", "EZTK", alnum, 54, 54, false},
	{"duffel-token", "duffel_test_", urlSafe | equals, 40, 50, false},
	{"duffel-token", "duffel_live_", urlSafe | equals, 40, 50, false},
	{"flutterwave-key", "FLWSECK_TEST-", alnum, 12, 40, false},
	{"flutterwave-key", "FLWSECK-", alnum | dash, 12, 40, false},
	{"flutterwave-key", "FLWPUBK_TEST-", alnum, 12, 40, false},
	{"shippo-token", "shippo_live_", hexDigits, 40, 40, false},
	{"shippo-token", "shippo_test_", hexDigits, 40, 40, false},
	{"frameio-token", "fio-u-", urlSafe | equals, 60, 70, false},
	{"sentry-token", "sntrys_", base64 | under, 50, 500, false},
	{"sentry-token", "sntryu_", hexDigits, 64, 64, false},
	{"postman-key", "PMAK-", hexDigits | dash, 59, 59, false},
	{"readme-key", "rdme_", alnum, 70, 70, false},
	{"adobe-secret", "p8e-", alnum, 32, 32, false},
	{"cloudflare-key", "v1.0-", hexDigits | dash, 171, 171, false},
	{"grafana-token", "glsa_", alnum | under, 41, 41, false},
	{"grafana-token", "glc_", base64, 32, 400, false},
	{"grafana-token", "eyJrIjoi", base64, 50, 400, false},
	{"atlassian-token", "ATATT3", urlSafe | equals, 100, 250, false},
	{"atlassian-token", "ATCTT3", urlSafe | equals, 100, 250, false},
	{"atlassian-token", "ATBB", alnum, 28, 40, true},
	{"atlassian-token", "BBDC-", base64, 40, 60, false},
	{"age-key", "AGE-SECRET-KEY-1", digit | upper, 58, 58, false},
	{"docker-token", "dckr_pat_", urlSafe, 20, 60, false},
	{"docker-token", "dckr_oat_", urlSafe, 20, 60, false},
	{"alibaba-key", "LTAI", alnum, 17, 26, true},
	{"tencent-key", "AKID", alnum, 32, 36, true},
	{"yandex-token", "t1.", urlSafe | dot | equals, 80, 400, false},
	{"yandex-token", "AQVN", urlSafe, 35, 38, true},
	{"yandex-token", "YCAJE", urlSafe, 20, 20, true},
	{"yandex-token", "YCM", urlSafe, 37, 37, true},
	{"yandex-token", "y0_", urlSafe, 50, 70, true},
	{"groq-key", "gsk_", alnum, 50, 60, false},
	{"perplexity-key", "pplx-", alnum, 40, 60, false},
	{"replicate-token", "r8_", alnum, 35, 40, false},
	{"xai-key", "xai-", alnum, 70, 90, false},
	{"notion-token", "ntn_", alnum, 46, 46, false},
	{"notion-token", "secret_", alnum, 43, 43, true},
	{"airtable-token", "pat", alnum | dot, 79, 79, true},
	{"sourcegraph-token", "sgp_", alnum | under, 40, 70, false},
	{"typeform-token", "tfp_", urlSafe | dot | equals, 50, 70, false},
	{"dropbox-token", "sl.", urlSafe, 130, 2000, true},
	{"octopus-key", "API-", alnum, 25, 30, true},
	{"twilio-key", "SK", hexDigits, 32, 32, true},
	{"fly-token", "fo1_", urlSafe, 40, 50, false},
	{"fly-token", "fm1r_", base64, 80, 4000, false},
	{"fly-token", "fm1a_", base64, 80, 4000, false},
	{"fly-token", "fm2_", base64, 80, 4000, false},
	{"clojars-token", "CLOJARS_", alnum, 60, 60, false},
	{"intra42-secret", "s-s4t2ud-", hexDigits, 64, 64, false},
	{"intra42-secret", "s-s4t2af-", hexDigits, 64, 64, false},
	{"lob-key", "live_", hexDigits, 35, 35, false},
	{"lob-key", "test_", hexDigits, 35, 35, false},
	{"lob-key", "live_pub_", hexDigits, 31, 31, false},
	{"lob-key", "test_pub_", hexDigits, 31, 31, false},
	{"defined-networking-token", "dnkey-", urlSafe | equals, 60, 120, false},
	{"harness-token", "pat.", alnum | dot | dash | under, 60, 100, true},
	{"harness-token", "sat.", alnum | dot | dash | under, 60, 100, true},
	{"infracost-key", "ico-", alnum, 32, 32, false},
	{"prefect-key", "pnu_", alnum, 36, 36, false},
	{"scalingo-token", "tk-us-", urlSafe, 48, 48, false},
	{"settlemint-token", "sm_aat_", alnum, 16, 16, false},
	{"settlemint-token", "sm_pat_", alnum, 16, 16, false},
	{"settlemint-token", "sm_sat_", alnum, 16, 16, false},
	{"onepassword-token", "ops_eyJ", base64 | urlSafe, 200, 4000, false},
	{"onepassword-key", "A3-", digit | upper | dash, 30, 60, true},
	{"heroku-key", "HRKU-AA", urlSafe, 50, 70, false},
	{"nuget-key", "oy2", digit | lower, 43, 43, false},
	{"openshift-token", "sha256~", urlSafe, 43, 43, false},
	{"artifactory-key", "AKCp", alnum, 69, 80, false},
	{"artifactory-key", "AP", alnum, 24, 80, true},
	{"artifactory-token", "cmVmdGtu", alnum, 50, 80, false},
	{"facebook-token", "EAACEdEose0cBA", alnum, 20, 300, false},
	{"facebook-token", "EAA", alnum, 95, 350, true},
	{"instagram-token", "IGQV", urlSafe, 80, 300, true},
	{"mapbox-token", "pk.", alnum | dot, 82, 90, true},
	{"mapbox-token", "sk.", alnum | dot | dash | under, 60, 150, true},
	{"plivo-key", "MA", digit | upper, 18, 18, true},
	{"contentful-token", "CFPAT-", urlSafe, 40, 60, false},
	{"hubspot-key", "pat-na1-", hexDigits | dash, 36, 36, false},
	{"hubspot-key", "pat-eu1-", hexDigits | dash, 36, 36, false},
	{"supabase-token", "sbp_", hexDigits, 40, 40, false},
	{"supabase-key", "sb_secret_", urlSafe, 20, 60, false},
	{"vercel-token", "vcp_", alnum, 20, 80, true},
	{"softlayer-key", "api.softlayer.com/soap/v3/", hexDigits | lower, 64, 64, false},
	{"softlayer-key", "api.softlayer.com/soap/v3.1/", hexDigits | lower, 64, 64, false},
	{"wundergraph-key", "cosmo_", hexDigits, 32, 32, false},
	{"langsmith-key", "lsv2_", alnum | under, 40, 70, false},
	{"buildkite-token", "bkua_", alnum, 40, 40, false},
	{"circleci-token", "CCIPAT_", urlSafe, 40, 80, false},
	{"terraform-token", "tfe_", alnum, 40, 80, true},
	{"microsoft-teams-webhook", "webhook.office.com/webhookb2/", urlSafe | base64More | atSign, 80, 250, false},
	{"discord-webhook", "discord.com/api/webhooks/", urlSafe | base64More, 60, 120, false},
	{"discord-webhook", "discordapp.com/api/webhooks/", urlSafe | base64More, 60, 120, false},
	{"cloudflare-token", "cfk_", alnum, 40, 60, false},
	{"cloudflare-token", "cfut_", alnum, 40, 60, false},
	{"cloudflare-token", "cfat_", alnum, 40, 60, false},
	{"dynatrace-token", "dt0c01.", alnum | dot, 80, 100, false},
	{"tavily-key", "tvly-", urlSafe, 24, 60, false},
	{"docker-swarm-token", "SWMTKN-1-", alnum | dash, 60, 100, false},
	{"newrelic-key", "NRBR-", hexDigits, 19, 19, false},
	{"supabase-token", "sbp_v0_", hexDigits, 40, 40, false},
	{"heroku-key", "HRKU-", urlSafe, 60, 70, false},
	{"google-token", "4/0A", urlSafe, 60, 100, false},
	{"freemius-key", "sk_", urlSafe | tilde, 29, 29, true},
	{"nats-seed", "SU", digit | upper, 56, 56, true},
	{"nats-seed", "SA", digit | upper, 56, 56, true},
	{"nats-seed", "SO", digit | upper, 56, 56, true},
	{"interlock-token", "ilk_", urlSafe, 43, 43, false},
}

// shortest is the length of the shortest text that can hold a secret: a name, an assignment and a short password.
const shortest = 6

// What may begin or hinge on a byte.
const (
	opensToken = 1 << iota // first byte of a form's literal
	shaped                 // anchor of a shape
	assigns                // first byte of a word that speaks of secrets
)

// scanTables are computed from the forms and words when a text is first looked at, and never change.
type scanTables struct {
	classes  [256]byte      // what to look for at each byte
	pairs    [1 << 16]uint8 // whether a form's literal or a word that speaks of secrets begins with two bytes
	first    [256][]*form   // the forms by their first byte
	byLetter [256][]*word   // the words by their first letter
}

var tables = sync.OnceValue(func() *scanTables {
	t := &scanTables{classes: classify(), byLetter: letters()}
	t.fillPairs()
	for n := range forms {
		c := forms[n].literal[0]
		t.first[c] = append(t.first[c], &forms[n])
	}
	return t
})

var members = alphabets()

func classify() (out [256]byte) {
	for _, f := range forms {
		out[f.literal[0]] |= opensToken
	}
	for _, c := range []byte("-e:.QBbP$") {
		out[c] |= shaped
	}
	for _, w := range words {
		out[w.text[0]] |= assigns
		if w.text[0] < 0x80 {
			out[w.text[0]&^0x20] |= assigns
		}
	}
	return out
}

// fillPairs fills the table by which most text is passed over.
func (t *scanTables) fillPairs() {
	for _, f := range forms {
		t.pairs[int(f.literal[0])<<8|int(f.literal[1])] |= opensToken
	}
	for _, w := range words {
		t.pairs[int(w.text[0])<<8|int(w.text[1])] |= assigns
		for _, a := range [...]byte{w.text[0], w.text[0] &^ 0x20} {
			for _, b := range [...]byte{w.text[1], w.text[1] &^ 0x20} {
				t.pairs[int(a)<<8|int(b)] |= assigns
			}
		}
	}
}

func alphabets() (out [256]alphabet) {
	for c := 0; c < 256; c++ {
		b := byte(c)
		switch {
		case b >= '0' && b <= '9':
			out[c] = digit
		case b >= 'a' && b <= 'f':
			out[c] = lowerHex | lower
		case b >= 'g' && b <= 'z':
			out[c] = lower
		case b >= 'A' && b <= 'F':
			out[c] = upperHex | upper
		case b >= 'G' && b <= 'Z':
			out[c] = upper
		}
	}
	out['-'], out['_'], out['.'], out['+'], out['/'] = dash, under, dot, base64More, base64More
	out['='], out['~'], out[':'], out['@'], out['$'] = equals, tilde, colon, atSign, dollar
	return out
}

func isWord(b byte) bool { return members[b]&alnum != 0 || b == '_' }

// token returns the token that begins at at, if one of the forms does. The longest literal that fits wins.
func token(text string, at int) (found Span) {
	best := 0
	for _, f := range tables().first[text[at]] {
		if len(f.literal) <= best || len(text)-at < len(f.literal)+f.least || text[at:at+len(f.literal)] != f.literal {
			continue
		}
		from := at + len(f.literal)
		end := from
		limit := len(text)
		if f.most > 0 && limit > from+f.most+1 {
			limit = from + f.most + 1
		}
		for end < limit && members[text[end]]&f.tail != 0 {
			end++
		}
		if n := end - from; n < f.least || f.most > 0 && n > f.most {
			continue
		}
		tail := text[from:end]
		if f.loose && !random(tail) || !wellFormed(f.literal, tail) {
			continue
		}
		best, found = len(f.literal), Span{at, end, f.kind}
	}
	return found
}
