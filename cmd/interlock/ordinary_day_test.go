package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/hook"
)

// wanted are the questions of an ordinary day, each with why a person would want it.
var wanted = map[string]string{
	"docker compose down -v": "the volumes hold the database",
}

// ordinaryDay is what a coding agent does in a day in one repository. A line that begins with Write or Edit is a file tool's call.
const ordinaryDay = `
git status
git pull --rebase
git log --oneline -10
git switch -c feature/retry
ls -la
cat README.md
head -50 src/client.py
grep -rn "def fetch" src
rg --files -g '*.py' | head -20
find . -name '*.py' -not -path './node_modules/*' | wc -l
Edit src/client.py
Write src/retry.py
Write tests/test_retry.py
python3 -m pytest -q tests
python3 -m pytest tests/test_retry.py -k backoff -x 2>&1 | tail -30
sed -n '1,80p' src/retry.py
sed -i 's/max_tries=3/max_tries=5/' src/retry.py
python3 -c "import sys; print(sys.version)"
python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt
pip install -e .
pip list --outdated
uv pip install pytest-cov
ruff check src tests
ruff format src
mypy src
black --check src
git diff
git diff --stat HEAD
git add -A
git commit -m "Retry requests that time out"
git commit --amend --no-edit
make test
make lint
make build
make clean
sh scripts/build.sh
./scripts/build.sh --release
npm ci
npm install --save-dev vitest
npm test
npm run build
npx tsc --noEmit
npx eslint src --fix
npm outdated
npm ls --depth=0
node -e "console.log(require('./package.json').version)"
yarn install --frozen-lockfile
pnpm run lint
rm -rf dist build
rm -rf node_modules && npm ci
rm -f tests/__pycache__/*.pyc
mkdir -p src/util && touch src/util/__init__.py
cp config/dev.yaml config/test.yaml
mv notes.txt docs/notes.txt
Edit config/dev.yaml
jq '.scripts' package.json
yq '.services | keys' docker-compose.yml
awk -F, '{s += $2} END {print s}' data/sample.csv
sort data/sample.csv | uniq -c | sort -rn | head
tar czf /tmp/dist.tgz dist
diff -u config/dev.yaml config/test.yaml
go build ./...
go test ./... -run TestRetry -count=1
go vet ./... && gofmt -l .
go mod tidy
cargo build --release
cargo test -- --nocapture
cargo clippy -- -D warnings
cmake -S . -B build && cmake --build build -j4
docker build -t app:dev .
docker compose up -d db
docker compose ps
docker compose logs --tail 50 db
docker run --rm app:dev python3 -m pytest -q
docker exec app-db-1 psql -U app -c "select count(*) from jobs"
docker images
docker compose down -v
psql -h localhost -U app -d app_dev -c "select id, state from jobs order by id desc limit 5"
sqlite3 dev.db "select name from sqlite_master"
redis-cli -h localhost ping
curl -s http://localhost:8000/health
curl -s -X POST http://localhost:8000/jobs -H 'Content-Type: application/json' -d '{"name": "test"}' | jq .
curl -sI https://example.org
lsof -i :8000
kill %1
ps aux | grep uvicorn
uvicorn src.app:app --port 8000 > /tmp/app.log 2>&1 &
tail -20 /tmp/app.log
git fetch origin && git rebase origin/main
git stash && git stash pop
git push -u origin feature/retry
git push --force-with-lease origin feature/retry
gh pr create --fill
gh pr checks
gh run view --log-failed
gh issue list --label bug
kubectl get pods -n staging
kubectl logs deploy/api -n staging --tail=100
kubectl describe pod api-0 -n staging
aws s3 ls s3://app-artifacts/
aws ec2 describe-instances --region eu-central-1
aws sts get-caller-identity
gcloud run services list
terraform plan
helm list -n staging
`

// TestAnOrdinaryDayStaysOrdinary sends a day's work through the hook of Claude Code. It asks at most twice, and only what a
// person would want to be asked.
func TestAnOrdinaryDayStaysOrdinary(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(ordinaryDay), "\n")
	if len(lines) < 100 || len(wanted) > 2 {
		t.Fatalf("the day has %d calls and %d questions", len(lines), len(wanted))
	}
	f := newHookFixture(t)
	repo := filepath.Join(f.user, "app")
	day := dayOf(t, repo)
	asked := 0
	for n, line := range lines {
		tool, input := day.call(line)
		payload, err := json.Marshal(map[string]any{"session_id": "day", "cwd": repo, "hook_event_name": "PreToolUse", "tool_name": tool,
			"tool_input": input, "tool_use_id": fmt.Sprint("t", n)})
		if err != nil {
			t.Fatal(err)
		}
		out := f.run(strings.NewReader(string(payload)), "--agent", "claude")
		why := wanted[line]
		switch {
		case hook.Refused("claude", "PreToolUse", out) && !strings.Contains(string(out.Stdout), `"ask"`):
			t.Errorf("%s: denied: %s%s", line, out.Stdout, out.Stderr)
		case !allowed(out) && why == "":
			t.Errorf("%s: a person is asked for nothing: %s%s", line, out.Stdout, out.Stderr)
		case allowed(out) && why != "":
			t.Errorf("%s: nobody is asked, though %s", line, why)
		}
		if !allowed(out) {
			asked++
		}
		day.leave(line)
	}
	t.Logf("%d of %d calls were asked about", asked, len(lines))
}

// A workDay is a repository that is worked in.
type workDay struct {
	t    *testing.T
	repo string
}

func dayOf(t *testing.T, repo string) workDay {
	t.Helper()
	d := workDay{t, repo}
	for name, text := range map[string]string{
		"README.md": "# app\n", "src/client.py": "def fetch(url):\n    return url\n", "requirements.txt": "httpx\n", "config/dev.yaml": "mode: dev\n",
		"Makefile":         "test:\n\tpython3 -m pytest -q\nlint:\n\truff check src\nbuild:\n\tsh scripts/build.sh\nclean:\n\trm -rf build dist\n",
		"scripts/build.sh": "#!/bin/sh\nset -e\nmkdir -p build\ncp src/*.py build/\n", "notes.txt": "notes\n", "docs/x.md": "x\n", "data/sample.csv": "a,1\n",
		"package.json":       `{"name":"app","version":"1.0.0","scripts":{"test":"vitest run","build":"tsc","lint":"eslint src"}}`,
		"docker-compose.yml": "services:\n  db:\n    image: postgres:16\n", "Dockerfile": "FROM python:3.12\nCOPY src /app\n",
		".gitignore": "build/\ndist/\nnode_modules/\n.venv/\n",
		"go.mod":     "module app\n", "dist/x.txt": "x\n", "build/x.txt": "x\n", "node_modules/a/x.js": "x\n",
	} {
		d.write(name, text)
	}
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"},
		{"remote", "add", "origin", "https://github.com/ann/app.git"}} {
		if out, err := exec.Command("git", append([]string{"-C", repo}, argv...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", argv, err, out)
		}
	}
	return d
}

func (d workDay) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.repo, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		d.t.Fatal(err)
	}
}

const newCode = "def backoff(tries):\n    return 2 ** tries\n"

// call is the tool call that a line of the day stands for.
func (d workDay) call(line string) (tool string, input any) {
	words := strings.Fields(line)
	switch words[0] {
	case "Write":
		return "Write", map[string]any{"file_path": filepath.Join(d.repo, words[1]), "content": newCode}
	case "Edit":
		return "Edit", map[string]any{"file_path": filepath.Join(d.repo, words[1]), "old_string": "dev", "new_string": "test"}
	}
	return "Bash", map[string]any{"command": line}
}

// leave makes what a file tool would have left.
func (d workDay) leave(line string) {
	if words := strings.Fields(line); words[0] == "Write" {
		d.write(words[1], newCode)
	}
}
