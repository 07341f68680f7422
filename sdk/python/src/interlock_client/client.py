"""The clients: one that waits for answers where it stands, and one for asyncio."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload
from urllib.parse import quote

from .wire import Wire, WireError

Kind = Literal["shell", "sql", "python", "javascript", "file", "http", "tool", "hint", "text"]
Outcome = Literal["success", "failure", "skipped", "unknown"]

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_URL = "http://127.0.0.1:7433"

_log = logging.getLogger("interlock_client")


class InterlockError(Exception):
    """Interlock could not be told something, or its answer can't be used."""


class Refused(InterlockError, PermissionError):
    """The action must not be done. `decision` says why, and what would help."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        text = decision.reason
        if decision.rule:
            text = f"[{decision.rule}] {text}"
        if decision.suggestion:
            text += f". Try: {decision.suggestion}"
        if decision.request:
            text += f" (an operator can allow it: interlock approve {decision.request})"
        super().__init__(text)


@dataclass(frozen=True)
class Finding:
    """One objection."""

    rule: str
    reason: str
    verdict: str
    suggestion: str = ""


@dataclass(frozen=True)
class Decision:
    """What Interlock answered. Act only if `allowed`."""

    allowed: bool
    answer: str  # allow, ask, deny or halt
    verdict: str  # what the rules say; empty where none was decided
    reason: str = ""
    rule: str = ""
    suggestion: str = ""
    event_id: str = ""  # where it is recorded
    request: str = ""  # the question that an operator has to answer
    findings: tuple[Finding, ...] = ()
    proposal: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what was asked about

    def __bool__(self) -> bool:
        return self.allowed

    def require(self) -> Decision:
        """This decision, if the action may be done; else `Refused` is raised."""
        if not self.allowed:
            raise Refused(self)
        return self


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _refusal(proposal: Mapping[str, Any], reason: str, rule: str = "client.unavailable") -> Decision:
    return Decision(False, "deny", "", reason, rule, proposal=proposal)


def _read(status: int, body: Mapping[str, Any], proposal: Mapping[str, Any]) -> Decision:
    """The decision in an answer. It allows only if everything says so: status, answer, and the event it is recorded in."""
    error = body.get("error")
    if isinstance(error, Mapping):
        where = _text(error.get("field"))
        message = _text(error.get("message")) or "Interlock refused the request"
        return _refusal(proposal, f"{where}: {message}" if where else message, "client." + (_text(error.get("code")) or "refused"))
    answer, verdict, event = _text(body.get("answer")), _text(body.get("verdict")), _text(body.get("event_id"))
    raw = body.get("findings")
    findings = tuple(
        Finding(_text(f.get("rule")), _text(f.get("reason")), _text(f.get("verdict")), _text(f.get("suggestion")))
        for f in (raw if isinstance(raw, list) else [])
        if isinstance(f, Mapping)
    )
    objection = findings[0] if findings and findings[0].verdict != "allow" else Finding("", "", "")
    allowed = status == 200 and answer == "allow" and event != ""
    reason = objection.reason
    if not allowed and not reason:
        reason = "Interlock did not allow it" if answer in ("ask", "deny", "halt") else "Interlock's answer can't be read"
    if allowed:
        reason = ""
    return Decision(allowed, answer if allowed or answer in ("ask", "deny", "halt") else "deny", verdict, reason, objection.rule,
                    objection.suggestion, event, _text(body.get("request")), findings, proposal)


class Interlock:
    """A connection to Interlock. It may be used by several threads.

    Without arguments it asks the server at INTERLOCK_URL (default http://127.0.0.1:7433) under the token in INTERLOCK_TOKEN.
    With `socket` it asks over the unix socket in Interlock's home, which takes no token from the user Interlock runs as.
    """

    def __init__(self, url: str | None = None, token: str | None = None, *, socket: str | None = None, run: str | None = None,
                 timeout: float = 10.0) -> None:
        if socket is None:
            url = url or os.environ.get("INTERLOCK_URL") or DEFAULT_URL
        if token is None and socket is None:
            token = os.environ.get("INTERLOCK_TOKEN")
        self._wire = Wire(url, token, socket)
        self._run = run
        self._timeout = timeout
        self._waits = True  # the server says when a question is answered

    def decide(self, kind: Kind, input: Any = None, *, tool: str | None = None, arguments: Mapping[str, Any] | None = None,
               dir: str | None = None, hint: str | None = None, call_id: str | None = None, wait: float = 0.0) -> Decision:
        """Ask whether an action may be done, and have the answer recorded. It raises nothing: whatever goes wrong is a no.

        `input` is a text, or an object for file, http and tool; or give `tool` and `arguments`. With `wait` it stays for as many
        seconds for an operator's answer, if there is a question to answer.
        """
        members = {"kind": kind, "input": input, "tool": tool, "arguments": arguments, "dir": dir, "hint": hint,
                   "call_id": call_id, "run": self._run}
        proposal = {name: value for name, value in members.items() if value is not None}
        decision = self._ask(proposal)
        return self.wait(decision, wait) if wait > 0 else decision

    def _ask(self, proposal: Mapping[str, Any], timeout: float | None = None) -> Decision:
        try:
            status, body = self._wire.post("/v1/decide", dict(proposal), timeout or self._timeout)
            return _read(status, body, proposal)
        except WireError as problem:
            return _refusal(proposal, str(problem))

    def wait(self, decision: Decision, timeout: float = 300.0) -> Decision:
        """Stay until an operator has answered the question, and return what came of it.

        A yes lets the identical action pass once, and this takes that once: act on what is returned, and ask no more. A decision
        that waits for nobody is returned as it is.
        """
        if decision.allowed or not decision.request:
            return decision
        end = time.monotonic() + timeout
        asked = {name: value for name, value in decision.proposal.items() if name != "call_id"}
        pause = 0.25
        while (left := end - time.monotonic()) > 0:
            said = self._answered(decision.request, min(25.0, left)) if self._waits else None
            if said is not None:
                status, waiting, why = said
                if waiting:
                    continue
                if status == "approved":
                    return self._ask(asked)
                text = {"denied": "an operator said no", "expired": "nobody answered the question in time"}.get(status, "the question is closed")
                return _refusal(asked, f"{text}: {why}" if why else text, "client.answered")
            time.sleep(max(0.0, min(pause, end - time.monotonic())))
            pause = min(pause * 1.5, 5.0)
            if self._waits:
                continue  # the server is away, or has no room: it is asked for the answer again
            again = self._ask(asked)
            if again.allowed:
                return again
            if again.request and again.request != decision.request:
                return _refusal(asked, "an operator said no, or the question ran out", "client.answered")
            if not again.request and again.event_id:
                return again
        return decision

    def _answered(self, request: str, seconds: float) -> tuple[str, bool, str] | None:
        """What has become of a question once it is answered or the time is over: its status, whether it waits still, and why."""
        try:
            body = {"timeout_seconds": max(0, int(seconds))}
            status, answer = self._wire.post(f"/v1/requests/{quote(request, safe='')}/wait", body, seconds + self._timeout)
        except WireError:
            return None
        if status == 403:  # a server of before there was such a path
            self._waits = False
        if status == 404:
            return "gone", False, ""
        if status != 200 or not isinstance(answer.get("waiting"), bool):
            return None
        if answer["waiting"] and seconds < 1:
            return None
        return _text(answer.get("status")), answer["waiting"], _text(answer.get("reason"))

    def report(self, decision: Decision, outcome: Outcome, *, detail: str | None = None, duration: float | None = None) -> None:
        """Tell what came of an action. Raises `InterlockError` if that can't be recorded."""
        body: dict[str, Any] = {"event_id": decision.event_id, "outcome": outcome}
        if self._run is not None:
            body["run"] = self._run
        if detail:
            body["detail"] = detail
        if duration is not None:
            body["duration_ns"] = max(0, int(duration * 1e9))
        try:
            status, answer = self._wire.post("/v1/outcome", body, self._timeout)
        except WireError as problem:
            raise InterlockError(str(problem)) from None
        if status != 200 or answer.get("recorded") is not True:
            error = answer.get("error")
            message = _text(error.get("message")) if isinstance(error, Mapping) else ""
            raise InterlockError(message or "the outcome was not recorded")

    def _told(self, decision: Decision, outcome: Outcome, detail: str | None, began: float) -> None:
        try:
            self.report(decision, outcome, detail=detail, duration=time.monotonic() - began)
        except InterlockError as problem:
            _log.warning("an outcome could not be recorded: %s", problem)

    @overload
    def guard(self, function: Callable[P, R], /) -> Callable[P, R]: ...

    @overload
    def guard(self, /, *, tool: str | None = None, kind: Kind = "tool", input: Callable[..., Any] | None = None,
              arguments: Callable[..., Mapping[str, Any]] | None = None, dir: str | None = None, hint: str | None = None,
              wait: float = 0.0) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def guard(self, function: Callable[P, R] | None = None, /, *, tool: str | None = None, kind: Kind = "tool",
              input: Callable[..., Any] | None = None, arguments: Callable[..., Mapping[str, Any]] | None = None,
              dir: str | None = None, hint: str | None = None, wait: float = 0.0,
              ) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
        """Guard a function: each call is decided before it runs, and what came of it is reported.

        Without arguments the call is one of a tool with the function's name and its arguments as they are bound. `input` makes the
        text of another kind of action out of the call's arguments: `guard(kind="shell", input=lambda command: command)`. `arguments`
        says what a tool is given, where it can't be written as JSON. Functions of asyncio are guarded as such.
        """

        def guarded(inner: Callable[P, R]) -> Callable[P, R]:
            asks = functools.partial(_proposal, inner, tool, kind, input, arguments)

            def decided(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Decision:
                try:
                    members = asks(args, kwargs)
                except Exception as problem:  # what can't be described can't be judged
                    raise Refused(_refusal({}, f"the call can't be described: {type(problem).__name__}", "client.call")) from problem
                decision = self.decide(dir=dir, hint=hint, wait=wait, **members).require()
                if asks(args, kwargs) != members:
                    raise Refused(_refusal(members, "the call changed while it was decided", "client.call"))
                return decision

            if inspect.iscoroutinefunction(inner):

                @functools.wraps(inner)
                async def coroutine(*args: P.args, **kwargs: P.kwargs) -> Any:
                    decision = await asyncio.to_thread(decided, args, kwargs)
                    began = time.monotonic()
                    try:
                        result = await cast(Callable[P, Awaitable[Any]], inner)(*args, **kwargs)
                    except BaseException as problem:
                        await asyncio.shield(asyncio.to_thread(self._told, decision, "failure", type(problem).__name__, began))
                        raise
                    await asyncio.to_thread(self._told, decision, "success", None, began)
                    return result

                return cast(Callable[P, R], coroutine)

            @functools.wraps(inner)
            def call(*args: P.args, **kwargs: P.kwargs) -> R:
                decision = decided(args, kwargs)
                began = time.monotonic()
                try:
                    result = inner(*args, **kwargs)
                except BaseException as problem:
                    self._told(decision, "failure", type(problem).__name__, began)
                    raise
                self._told(decision, "success", None, began)
                return result

            return call

        return guarded if function is None else guarded(function)


def _proposal(function: Callable[..., Any], tool: str | None, kind: Kind, input: Callable[..., Any] | None,
              arguments: Callable[..., Mapping[str, Any]] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """A call as the members of a proposal, in a form of its own: what the caller changes meanwhile is not changed in it."""
    if input is not None:
        return {"kind": kind, "input": _copied(input(*args, **kwargs))}
    if arguments is not None:
        given = dict(arguments(*args, **kwargs))
    else:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name not in ("self", "cls")}
    return {"kind": kind, "tool": tool or function.__name__, "arguments": _copied(given)}


def _copied(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


class AsyncInterlock:
    """`Interlock` for asyncio: the same calls, to be awaited. Requests wait in threads."""

    def __init__(self, url: str | None = None, token: str | None = None, *, socket: str | None = None, run: str | None = None,
                 timeout: float = 10.0) -> None:
        self.sync = Interlock(url, token, socket=socket, run=run, timeout=timeout)
        self.guard = self.sync.guard

    async def decide(self, kind: Kind, input: Any = None, *, tool: str | None = None, arguments: Mapping[str, Any] | None = None,
                     dir: str | None = None, hint: str | None = None, call_id: str | None = None, wait: float = 0.0) -> Decision:
        """See `Interlock.decide`."""
        return await asyncio.to_thread(self.sync.decide, kind, input, tool=tool, arguments=arguments, dir=dir, hint=hint,
                                       call_id=call_id, wait=wait)

    async def wait(self, decision: Decision, timeout: float = 300.0) -> Decision:
        """See `Interlock.wait`."""
        return await asyncio.to_thread(self.sync.wait, decision, timeout)

    async def report(self, decision: Decision, outcome: Outcome, *, detail: str | None = None, duration: float | None = None) -> None:
        """See `Interlock.report`."""
        await asyncio.to_thread(self.sync.report, decision, outcome, detail=detail, duration=duration)
