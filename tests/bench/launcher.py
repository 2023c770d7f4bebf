"""Runs commands and measures them, one JSON line in, one out. A process of its own, started with `python -I -S`.

The peak memory that Linux reports of a child begins with that of the process it was forked from, so a large bench
cannot see how small a command is; this stays small. Standard library only.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run `job["command"]` in `job["cwd"]`: exit code, seconds, those of the processor, peak MB, what it printed."""
    start = time.perf_counter()
    child = subprocess.Popen(
        job["command"], cwd=job["cwd"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    return {
        "code": child.returncode,
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "tail": output[-2000:].decode("utf-8", "replace"),
    }


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
