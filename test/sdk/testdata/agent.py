"""An agent that guards what it does, and says what came of it. It goes on when a line comes in."""

import asyncio
import sys

from interlock_client import AsyncInterlock, Interlock, InterlockError, Refused

interlock = Interlock(run="r1")
patient = AsyncInterlock(run="r1")


def say(*words: object) -> None:
    print(*words, flush=True)


@interlock.guard(kind="shell", input=lambda command: command, dir="/tmp", wait=60)
def shell(command: str) -> None:
    if command == "ls -l":
        raise ValueError("it fails")
    say("ran", command)


@patient.guard(kind="shell", input=lambda command: command, dir="/tmp")
async def later(command: str) -> None:
    say("ran", command, "async")


def attempt(call, *words: str) -> None:
    try:
        call()
    except Refused as no:
        say("refused", no.decision.rule, *words)


decision = interlock.decide("shell", "ls", dir="/tmp")
say("allowed", decision.allowed)
interlock.report(decision, "success", duration=0.1)
shell("ls")
say("denied", interlock.decide("shell", "rm -rf --no-preserve-root /", dir="/tmp").rule)
attempt(lambda: shell("rm -rf --no-preserve-root /"))
sys.stdin.readline()
attempt(lambda: shell("git push --force origin yes"))
sys.stdin.readline()
attempt(lambda: shell("git push --force origin no"))
sys.stdin.readline()
asyncio.run(later("ls"))
try:
    shell("ls -l")
except ValueError:
    say("failed as it should")
attempt(lambda: interlock.guard(lambda thing: say("ran"))(object()))
sys.stdin.readline()
attempt(lambda: shell("ls"))
attempt(lambda: asyncio.run(later("ls")), "async")
try:
    interlock.report(decision, "success")
except InterlockError:
    say("could not report")
say("end")
