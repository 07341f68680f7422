// Does one thing, if it may.
import { Interlock, Refused } from "interlock-client";

const act = new Interlock({ timeoutMs: 1000 }).guard(function act() { console.log("ran"); });
try {
  await act({ what: "something" });
} catch (no) {
  if (!(no instanceof Refused)) throw no;
  console.log(`refused ${no.decision.rule}`);
}
