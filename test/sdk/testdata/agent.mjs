// An agent that guards what it does, and says what came of it. It goes on when a line comes in.
import * as readline from "node:readline";
import { Interlock, InterlockError, Refused } from "interlock-client";

const interlock = new Interlock({ run: "r1" });
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (...words) => console.log(words.join(" "));

const options = { kind: "shell", input: (command) => command, dir: "/tmp", waitMs: 60_000 };
const shell = interlock.guard((command) => {
  if (command === "ls -l") throw new RangeError("it fails");
  say("ran", command);
}, options);
const later = interlock.guard(async (command) => say("ran", command, "async"), options);

async function attempt(call, ...words) {
  try {
    await call();
  } catch (no) {
    if (!(no instanceof Refused)) throw no;
    say("refused", no.decision.rule, ...words);
  }
}

const decision = await interlock.decide({ kind: "shell", input: "ls", dir: "/tmp" });
say("allowed", decision.allowed ? "True" : "False");
await interlock.report(decision, "success", { durationMs: 100 });
await shell("ls");
say("denied", (await interlock.decide({ kind: "shell", input: "rm -rf --no-preserve-root /", dir: "/tmp" })).rule);
await attempt(() => shell("rm -rf --no-preserve-root /"));
await lines.next();
await attempt(() => shell("git push --force origin yes"));
await lines.next();
await attempt(() => shell("git push --force origin no"));
await lines.next();
await later("ls");
try {
  await shell("ls -l");
} catch (problem) {
  if (problem instanceof RangeError) say("failed as it should");
}
await attempt(() => interlock.guard(function odd() { say("ran"); })({ endless: 1n }));
await lines.next();
await attempt(() => shell("ls"));
await attempt(() => later("ls"), "async");
try {
  await interlock.report(decision, "success");
} catch (problem) {
  if (problem instanceof InterlockError) say("could not report");
}
say("end");
process.exit();
