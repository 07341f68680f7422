"""Ask Interlock before an agent acts.

>>> from interlock_client import Interlock
>>> interlock = Interlock()  # INTERLOCK_URL and INTERLOCK_TOKEN, or the address and token as arguments
>>> @interlock.guard
... def send_mail(to: str, subject: str) -> None: ...

A guarded function runs only if Interlock allowed the call and recorded that it did. Everything else raises `Refused`: another
answer, a server that is away, an answer that can't be read. There is no setting that makes it run anyway.
"""

from .client import AsyncInterlock, Decision, Finding, Interlock, InterlockError, Kind, Outcome, Refused

__all__ = ["AsyncInterlock", "Decision", "Finding", "Interlock", "InterlockError", "Kind", "Outcome", "Refused"]
