"""An agent in a pipeline: it asks over the socket in Interlock's home, and nobody answers questions."""

import os

from interlock_client import Interlock

interlock = Interlock(socket=os.path.join(os.environ["INTERLOCK_HOME"], "interlock.sock"))
for command in ("ls", "curl -s -m 1 http://169.254.169.254/latest/meta-data/", "git push --force origin main"):
    decision = interlock.decide("shell", command, dir=os.getcwd())
    print("allowed" if decision.allowed else f"refused {decision.rule}", flush=True)
