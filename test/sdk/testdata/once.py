"""Does one thing, if it may."""

from interlock_client import Interlock, Refused

interlock = Interlock(timeout=1.0)


@interlock.guard
def act(what: str) -> None:
    print("ran", flush=True)


try:
    act("something")
except Refused as no:
    print("refused", no.decision.rule, flush=True)
