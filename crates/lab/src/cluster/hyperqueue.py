"""Submits tasks to a HyperQueue server, or says how many of a job's tasks have not ended.

    SERVER submit NAME TASKS SCRIPT FOLDER COMMAND STORE    prints `job ID of server UID`
    SERVER look `job ID of server UID`                      prints a number
"""

import json
import os
import pathlib
import sys

try:
    from hyperqueue import Client, Job
except ImportError as error:
    sys.exit(f"hyperqueue: {error}, expected PyPI's `hyperqueue` in the version of the server")


class Known(Exception):
    """Ends the wait for a job as soon as its state is known."""


def look(client, job):
    state = {}

    def on_state(jobs):
        state.update(jobs)
        raise Known

    try:
        client.connection.wait_for_jobs((job,), on_state)
    except Known:
        pass
    # A job that the server does not know has no state.
    return sum(of["total"] - of["finished"] - of["failed"] for of in state.values() if not of["completed"])


def submit(client, name, tasks, script, folder, command, store):
    # Tasks that fail or die do not end the others: whoever submits looks at the results.
    job = Job(name=name, max_fails=None, default_workdir="/")
    for task in range(int(tasks)):
        job.program(["/bin/sh", script, folder, str(task), command, store], stdout=None, stderr=None)
    return client.submit(job).id


def main(server, what, *rest):
    folder = server or os.environ.get("HQ_SERVER_DIR") or str(pathlib.Path.home() / ".hq-server")
    try:
        uid = json.loads((pathlib.Path(folder) / "hq-current/access.json").read_text())["server_uid"]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"hyperqueue: {folder}: {error}, expected the folder of a running server")
    if what == "look":
        _, job, _, _, of = rest[0].split()
        # A server that was started again knows no job of the one before.
        print(look(Client(folder), int(job)) if of == uid else 0)
    else:
        print(f"job {submit(Client(folder), *rest)} of server {uid}")


try:
    main(*sys.argv[1:])
except Exception as error:
    said = " ".join(str(error).partition("Stack backtrace:")[0].split())
    sys.exit(f"hyperqueue: {said or type(error).__name__}")
