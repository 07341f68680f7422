package secret_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"interlock/internal/secret"
)

// TestPasswordsThatAreTold finds passwords in sentences of several languages and in commands, and nothing in their neighbours.
func TestPasswordsThatAreTold(t *testing.T) {
	for _, test := range []struct{ password, text string }{ // the other way round each line would tell one
		{"hunter2-Xy", "the password is PW, ok?"},
		{"kQ7-fish", "The password for the router is PW."},
		{"Blue7fish", "the password is now 'PW'"},
		{"Sommer2024!", "Das Passwort lautet PW."},
		{"Soleil75x", "le mot de passe : PW"},
		{"Soleil75x", "mot de passe est PW."},
		{"Verano24x", "la contraseña es PW"},
		{"Praia99x", "a senha é PW"},
		{"Fiets77x", "het wachtwoord is PW"},
		{"Wiosna24x", "hasło to PW"},
		{"Zima2024x", "Пароль: PW"},
		{"Sakura24x", "パスワードはPW。"},
		{"Chun2024x", "密码是PW。"},
		{"Qamar24x", "كلمة المرور هي PW"},
		{"tr0ub4dor", "curl -u ann:PW https://x.io"},
		{"tr0ub4dor", "curl -s --user 'ann:PW' x.io"},
		{"tr0ub4dor", `["curl","-u","ann:PW"]`},
		{"tr0ub4dor", "mysql -u root -pPW db"},
		{"tr0ub4dor", "sshpass -p PW ssh h"},
		{"tr0ub4dor", "PGPASSWORD=PW psql"},
		{"tr0ub4dor", "redis-cli -a PW ping"},
		{"tr0ub4dor", "openssl enc -k PW"},
		{"tr0ub4dor", "openssl rsa -passin pass:PW"},
		{"tr0ub4dor", "htpasswd -cb f ann PW"},
		{"tr0ub4dor", "zip -P PW a.zip b"},
		{"tr0ub4dor", "echo PW | sudo -S ls"},
		{"tr0ub4dor", "docker login -u ann -p PW r.io"},
		{"aB3$xY9&kL0%mN", "password=PW"},
		{"aB3xY9", "?password=PW&kind=a"},
		{"aB3xY9", "?password=PW&debug"},
		{"aB3xY9", "DB_PASSWORD=PW && run"},
		{"ilk_" + strings.Repeat("aB3xY9", 7) + "8", "use PW here"},
	} {
		before, behind, _ := strings.Cut(test.text, "PW")
		if got, _ := secret.Redact(before + test.password + behind); got != before+secret.Marker+behind {
			t.Errorf("%q: got %q", test.text, got)
		}
	}
	for _, text := range []string{"password is now \"blue fish7\"", "the password is required", "the password is in the vault",
		"password is 8 characters", "password is 12-digit", "password is sha256 hashed", "password is case-sensitive", "the password for the router is unknown", "PASS - test_login2",
		"docker run -p 8080:80 nginx", "ssh -p 2222 host", "mysql -p db", "curl -u ann x.io", "curl -u $USER:$PASS x", "mkdir -p a1b2c3",
		"find -name mysql -print", "send the password to ann@firm.com",
		"le mot de passe est obligatoire", "Пароль обязателен", "git -C x -p y1z2w3", "tests pass - 12of13 ok", "redis-cli -a $PW"} {
		if found := secret.Suspect(text); len(found) != 0 {
			t.Errorf("%q: found %v", text, found)
		}
	}
}

// TestDocumentedKeysAreLetBe: what ends as Amazon's own examples do is no leak, and is redacted all the same.
func TestDocumentedKeysAreLetBe(t *testing.T) {
	for _, text := range []string{"id AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"curl -u admin:admin x.io", "as [Auth](http-api.md#openid-authzen-10) permits"} {
		if found := secret.Find(text); len(found) != 0 {
			t.Errorf("%q: found %v", text, found)
		}
	}
	if len(secret.Find("id AKIAIOSFODNN7"+"EXAMPLX")) == 0 {
		t.Error("its neighbour is not found")
	}
}

// TestSeedPhrases has the vectors of BIP-39, phrases with a wrong word, and prose.
func TestSeedPhrases(t *testing.T) {
	twelve := strings.Repeat("abandon ", 11) + "about"
	longer := strings.Repeat("legal winner thank year wave sausage worth useful ", 2) + "legal will"
	longest := strings.Repeat("zoo ", 23) + "vote"
	numbered := "1. legal 2. winner 3. thank\n4. year 5. wave 6. sausage\n7. worth 8. useful 9. legal\n10. winner 11. thank 12. yellow"
	for _, phrase := range []string{twelve, longer, longest, strings.ToUpper(longer), strings.ReplaceAll(twelve, " ", ", "), strings.ReplaceAll(longer, " ", "\n")} {
		if got, kinds := secret.Redact("my words: " + phrase + ". Keep them."); got != "my words: [redacted]. Keep them." || kinds[0] != "seed-phrase" {
			t.Errorf("%s: got %q, %v", phrase, got, kinds)
		}
	}
	if got, _ := secret.Redact(numbered); got != "1. [redacted]" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{strings.Repeat("abandon ", 12), twelve[:len(twelve)-6],
		"people like that can make this world better when they learn from each other every single day"} {
		if found := secret.Find(text); len(found) != 0 {
			t.Errorf("%q: found %v", text, found)
		}
	}
}

// TestSeedWords holds the list against the digest of the one that is published.
func TestSeedWords(t *testing.T) {
	list := secret.SeedWords()
	sum := sha256.Sum256([]byte(strings.Join(list, "\n") + "\n"))
	if got := hex.EncodeToString(sum[:]); len(list) != 2048 || got != "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda" {
		t.Errorf("%d words, %s", len(list), got)
	}
}
