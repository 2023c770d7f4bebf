"""The search of `grep` without ripgrep, run as a process of its own so that a slow pattern can be ended.

A script, not to be imported: it uses the standard library alone and is started by its path, isolated, in the
workspace. It reads {"pattern", "ignore_case", "context", "most", "files"} as JSON and answers in ripgrep's JSON lines;
a pattern that is none gives one line of type "refused" and exit code 2.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import Any

_SURROGATES = "surrogateescape"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def main() -> int:
    """Search the files in order; each match is written at once, because the process may be ended at any time."""
    request = json.load(sys.stdin)
    try:
        pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as fault:
        _say("refused", message=str(fault))
        return 2
    for path in request["files"]:
        lines = _lines(path)
        for kind, number, line, start in _search(lines, pattern, request["context"], request["most"]):
            places = [] if start is None else [{"start": len(line[:start].encode("utf-8", _SURROGATES))}]
            _say(kind, path={"text": path}, lines={"text": line}, line_number=number, submatches=places)
        _say("end", path={"text": path}, binary_offset=None)
    return 0


def _lines(path: str) -> list[str]:
    """The lines of a file without their ends; none of one that cannot be read."""
    try:
        # What was a file when the list was made may have become a link or a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return []
    if data.startswith(_UTF16):
        text = data.decode("utf-16", "replace")
    else:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", _SURROGATES)
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _search(
    lines: list[str], pattern: re.Pattern[str], context: int, most: int
) -> Iterator[tuple[str, int, str, int | None]]:
    """Kind, number from 1, line and place of the match, for matches and the lines around them."""
    last = -1  # the last line that was given
    until = -1  # the last line that the context of a match reaches
    for at, line in enumerate(lines):
        found = pattern.search(line) if most else None
        if found:
            for before in range(max(last + 1, at - context), at):
                yield "context", before + 1, lines[before], None
            yield "match", at + 1, line, found.start()
            last, until, most = at, at + context, most - 1
        elif at <= until:
            yield "context", at + 1, line, None
            last = at
        elif not most:
            return


def _say(kind: str, **data: Any) -> None:
    sys.stdout.write(json.dumps({"type": kind, "data": data}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
