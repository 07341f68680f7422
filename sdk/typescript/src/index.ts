import { setTimeout as sleep } from "node:timers/promises";

import { type Members, type Place, Wire, WireError } from "./wire.js";

export type Kind = "shell" | "sql" | "python" | "javascript" | "file" | "http" | "tool" | "hint" | "text";
export type Outcome = "success" | "failure" | "skipped" | "unknown";

/** What an agent is about to do. Give `input`, or `tool` and `arguments`. */
export interface Proposal {
  kind: Kind;
  /** A text; for file and tool `{tool, args}`, for http `{method, url, headers, body}`. */
  input?: unknown;
  tool?: string;
  arguments?: Members;
  /** Absolute working directory. */
  dir?: string;
  /** What the action is said to be for. It is recorded, and never in its favour. */
  hint?: string;
  callId?: string;
}

/** One objection. */
export interface Finding {
  readonly rule: string;
  readonly reason: string;
  readonly verdict: string;
  readonly suggestion: string;
}

/** What Interlock answered. Act only if `allowed`. */
export interface Decision {
  readonly allowed: boolean;
  readonly answer: "allow" | "ask" | "deny" | "halt";
  /** What the rules say; empty where nothing was decided. */
  readonly verdict: string;
  readonly reason: string;
  readonly rule: string;
  readonly suggestion: string;
  /** Where it is recorded. */
  readonly eventId: string;
  /** The question that an operator has to answer. */
  readonly request: string;
  readonly findings: readonly Finding[];
  readonly proposal: Proposal;
}

/** Interlock could not be told something, or its answer can't be used. */
export class InterlockError extends Error {
  override name = "InterlockError";
}

/** The action must not be done. `decision` says why, and what would help. */
export class Refused extends InterlockError {
  override name = "Refused";
  constructor(readonly decision: Decision) {
    const { rule, reason, suggestion, request } = decision;
    super(
      (rule ? `[${rule}] ` : "") + reason + (suggestion ? `. Try: ${suggestion}` : "") +
        (request ? ` (an operator can allow it: interlock approve ${request})` : ""),
    );
  }
}

export interface Options extends Place {
  /** The caller's name for one execution of an agent. */
  run?: string;
  timeoutMs?: number;
}

export interface GuardOptions<A extends unknown[]> {
  tool?: string;
  kind?: Kind;
  /** The text of an action of another kind, from the call's arguments. */
  input?: (...args: A) => unknown;
  /** What a tool is given, where the call's arguments don't say so. */
  arguments?: (...args: A) => Members;
  dir?: string;
  hint?: string;
  /** How long to stay for an operator's answer, if there is a question. */
  waitMs?: number;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const refusal = (proposal: Proposal, reason: string, rule = "client.unavailable"): Decision => ({
  allowed: false, answer: "deny", verdict: "", reason, rule, suggestion: "", eventId: "", request: "", findings: [], proposal,
});

/** The decision in an answer. It allows only if everything says so: status, answer, and the event it is recorded in. */
function read(status: number, body: Members, proposal: Proposal): Decision {
  const error = body["error"] as Members | null | undefined;
  if (typeof error === "object" && error !== null) {
    const where = text(error["field"]);
    const message = text(error["message"]) || "Interlock refused the request";
    return refusal(proposal, where ? `${where}: ${message}` : message, `client.${text(error["code"]) || "refused"}`);
  }
  const answer = text(body["answer"]);
  const known = answer === "allow" || answer === "ask" || answer === "deny" || answer === "halt";
  const eventId = text(body["event_id"]);
  const raw = Array.isArray(body["findings"]) ? (body["findings"] as Members[]) : [];
  const findings = raw.map((f) => ({
    rule: text(f?.["rule"]), reason: text(f?.["reason"]), verdict: text(f?.["verdict"]), suggestion: text(f?.["suggestion"]),
  }));
  const objection = findings[0] && findings[0].verdict !== "allow" ? findings[0] : undefined;
  const allowed = status === 200 && answer === "allow" && eventId !== "";
  const why = objection?.reason || (known ? "Interlock did not allow it" : "Interlock's answer can't be read");
  return {
    allowed, answer: known && (allowed || answer !== "allow") ? answer : "deny", verdict: text(body["verdict"]), reason: allowed ? "" : why,
    rule: objection?.rule ?? "", suggestion: objection?.suggestion ?? "", eventId, request: text(body["request"]), findings, proposal,
  };
}

function members(proposal: Proposal, run: string | undefined): Members {
  const { callId, ...rest } = proposal;
  return { ...rest, ...(callId === undefined ? {} : { call_id: callId }), ...(run === undefined ? {} : { run }) };
}

/**
 * A connection to Interlock. Without options it asks the server at INTERLOCK_URL (default http://127.0.0.1:7433) under the token in
 * INTERLOCK_TOKEN; with `socket` over the unix socket in Interlock's home.
 */
export class Interlock {
  readonly #wire: Wire;
  readonly #run: string | undefined;
  readonly #timeoutMs: number;
  #waits = true; // the server says when a question is answered

  constructor(options: Options = {}) {
    const { socket } = options;
    const token = options.token ?? (socket === undefined ? process.env["INTERLOCK_TOKEN"] : undefined);
    const place: Place = { url: options.url ?? process.env["INTERLOCK_URL"] ?? "http://127.0.0.1:7433" };
    if (token !== undefined) place.token = token;
    if (socket !== undefined) place.socket = socket;
    this.#wire = new Wire(place);
    this.#run = options.run;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
  }

  /** Asks whether an action may be done, and has the answer recorded. It never throws: whatever goes wrong is a no. */
  async decide(proposal: Proposal, options: { waitMs?: number } = {}): Promise<Decision> {
    const decision = await this.#ask(proposal, this.#timeoutMs);
    return options.waitMs ? this.wait(decision, { timeoutMs: options.waitMs }) : decision;
  }

  async #ask(proposal: Proposal, timeoutMs: number): Promise<Decision> {
    try {
      const { status, body } = await this.#wire.post("/v1/decide", members(proposal, this.#run), timeoutMs);
      return read(status, body, proposal);
    } catch (problem) {
      return refusal(proposal, problem instanceof WireError ? problem.message : "Interlock could not be asked");
    }
  }

  /**
   * Stays until an operator has answered the question, and gives what came of it. A yes lets the identical action pass once, and this
   * takes that once: act on what is returned, and ask no more. A decision that waits for nobody is returned as it is.
   */
  async wait(decision: Decision, options: { timeoutMs?: number } = {}): Promise<Decision> {
    if (decision.allowed || !decision.request) return decision;
    const end = performance.now() + (options.timeoutMs ?? 300_000);
    const { callId: _, ...proposal } = decision.proposal;
    let pause = 250;
    for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
      const said = this.#waits ? await this.#answered(decision.request, Math.min(25_000, left)) : undefined;
      if (said?.waiting) continue;
      if (said?.status === "approved") return this.#ask(proposal, this.#timeoutMs);
      if (said) {
        const text = said.status === "denied" ? "an operator said no"
          : said.status === "expired" ? "nobody answered the question in time" : "the question is closed";
        return refusal(proposal, said.reason ? `${text}: ${said.reason}` : text, "client.answered");
      }
      await sleep(Math.max(0, Math.min(pause, end - performance.now())));
      pause = Math.min(pause * 1.5, 5000);
      if (this.#waits) continue; // the server is away, or has no room: it is asked for the answer again
      const again = await this.#ask(proposal, this.#timeoutMs);
      if (again.allowed) return again;
      if (again.request && again.request !== decision.request) {
        return refusal(proposal, "an operator said no, or the question ran out", "client.answered");
      }
      if (!again.request && again.eventId) return again;
    }
    return decision;
  }

  /** What has become of a question once it is answered or the time is over. */
  async #answered(request: string, withinMs: number): Promise<{ status: string; waiting: boolean; reason: string } | undefined> {
    try {
      const seconds = Math.max(0, Math.floor(withinMs / 1000));
      const path = `/v1/requests/${encodeURIComponent(request)}/wait`;
      const { status, body } = await this.#wire.post(path, { timeout_seconds: seconds }, withinMs + this.#timeoutMs);
      if (status === 403) this.#waits = false; // a server of before there was such a path
      if (status === 404) return { status: "gone", waiting: false, reason: "" };
      const waiting = body["waiting"];
      if (status !== 200 || typeof waiting !== "boolean" || (waiting && seconds === 0)) return undefined;
      return { status: text(body["status"]), waiting, reason: text(body["reason"]) };
    } catch {
      return undefined;
    }
  }

  /** Tells what came of an action. It throws an InterlockError if that can't be recorded. */
  async report(decision: Decision, outcome: Outcome, options: { detail?: string; durationMs?: number } = {}): Promise<void> {
    const body: Members = { event_id: decision.eventId, outcome };
    if (this.#run !== undefined) body["run"] = this.#run;
    if (options.detail) body["detail"] = options.detail;
    if (options.durationMs !== undefined) body["duration_ns"] = Math.max(0, Math.round(options.durationMs * 1e6));
    let answer: { status: number; body: Members };
    try {
      answer = await this.#wire.post("/v1/outcome", body, this.#timeoutMs);
    } catch (problem) {
      throw new InterlockError(problem instanceof WireError ? problem.message : "Interlock could not be told");
    }
    if (answer.status !== 200 || answer.body["recorded"] !== true) {
      const error = answer.body["error"] as Members | undefined;
      throw new InterlockError(text(error?.["message"]) || "the outcome was not recorded");
    }
  }

  /**
   * Guards a function: each call is decided before it runs, and what came of it is reported. A call that may not be done throws
   * [Refused], also while the server is away; no setting makes it run anyway. Without options the call is one of a tool with the
   * function's name; one plain object is its arguments, anything else stands under `args`.
   */
  guard<A extends unknown[], R>(inner: (...args: A) => R, options: GuardOptions<A> = {}): (...args: A) => Promise<Awaited<R>> {
    const interlock = this;
    return async function (this: unknown, ...args: A): Promise<Awaited<R>> {
      let proposal: Proposal;
      try {
        proposal = described(inner, options, args);
      } catch (problem) {
        const name = problem instanceof Error ? problem.name : "error";
        throw new Refused(refusal({ kind: "tool" }, `the call can't be described: ${name}`, "client.call"));
      }
      const decision = await interlock.decide(proposal, options.waitMs === undefined ? {} : { waitMs: options.waitMs });
      if (!decision.allowed) throw new Refused(decision);
      if (changed(proposal, inner, options, args)) throw new Refused(refusal(proposal, "the call changed while it was decided", "client.call"));
      const began = performance.now();
      try {
        const result = await inner.apply(this, args);
        await interlock.#told(decision, "success", {}, began);
        return result;
      } catch (problem) {
        await interlock.#told(decision, "failure", { detail: problem instanceof Error ? problem.name : "error" }, began);
        throw problem;
      }
    };
  }

  async #told(decision: Decision, outcome: Outcome, options: { detail?: string }, began: number): Promise<void> {
    try {
      await this.report(decision, outcome, { ...options, durationMs: performance.now() - began });
    } catch (problem) {
      process.emitWarning(`an outcome could not be recorded: ${(problem as Error).message}`, "InterlockWarning");
    }
  }
}

/** Whether a call is no longer the one that was decided. */
function changed<A extends unknown[], R>(was: Proposal, inner: (...args: A) => R, options: GuardOptions<A>, args: A): boolean {
  try {
    return JSON.stringify(described(inner, options, args)) !== JSON.stringify(was);
  } catch {
    return true;
  }
}

/** A call as a proposal, in a form of its own: what the caller changes meanwhile is not changed in it. */
function described<A extends unknown[], R>(inner: (...args: A) => R, options: GuardOptions<A>, args: A): Proposal {
  const rest: Partial<Proposal> = {};
  if (options.dir !== undefined) rest.dir = options.dir;
  if (options.hint !== undefined) rest.hint = options.hint;
  const kind = options.kind ?? "tool";
  if (options.input) return { ...rest, kind, input: JSON.parse(JSON.stringify(options.input(...args))) as unknown };
  const only = args.length === 1 ? args[0] : undefined;
  const plain = typeof only === "object" && only !== null && !Array.isArray(only);
  const given = options.arguments ? options.arguments(...args) : plain ? (only as Members) : args.length === 0 ? {} : { args };
  const tool = options.tool ?? inner.name;
  if (!tool) throw new TypeError("the function has no name; give the tool's");
  return { ...rest, kind, tool, arguments: JSON.parse(JSON.stringify(given)) as Members };
}
