"""Commands with a time limit."""

import os
import signal
import subprocess


def run(command, timeout):
    """A command's exit status and what it printed. At its time limit it ends with all that it started: status None."""
    environment = {**os.environ, "LC_ALL": "C"}
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = child.communicate(timeout=timeout)
        return child.returncode, output
    except subprocess.TimeoutExpired:
        end(child)
        return None, f"ended after {timeout:g} s"
    except BaseException:
        end(child)
        raise


def end(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.communicate()
