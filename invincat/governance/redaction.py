"""Taking out of a text what a model or a team need not see (RULES 4 "Evidence"): secrets, homes, paths, e-mails."""

import re
import unicodedata
from typing import Final

from invincat.governance.secrets import scan
from invincat.memory.content import one_line

HIDDEN: Final = "[secret]"
E_MAIL: Final = "[e-mail]"
_ROUNDS = 8

# A name does not end with the full stop of the sentence that it is in.
_NAME = r"[^\s/\\:*?\"'`<>|,;()\[\]{}]*[^\s/\\:*?\"'`<>|,;()\[\]{}.]"
_WILD = r"[^\s/\\:?\"'`<>|,;()\[\]{}]+"
# A path starts a word; inside a URL or a relative path a slash is only a separator.
# `-I` and `-L` are the options of compilers that are written without a space.
_START = r"(?:(?<![\w~….\\/\])}])|(?<=file://)|(?<=-[IL]))"
_BACK = r"\\{1,2}"
# A backslash may stand doubled, as in JSON.
_DOUBLED: Final = (r"\\", _BACK)

_HOME = re.compile(
    rf"{_START}(?:/(?:mnt|cygdrive|host_mnt)/[a-zA-Z]|/[a-zA-Z]|/export|/var|/private|/System/Volumes/Data)?"
    rf"/(?:home|Users)/{_NAME}"
    rf"|{_START}/root(?=/)"
    rf"|(?<![A-Za-z0-9])[A-Za-z]:(?:{_BACK}|/)(?i:Users|Documents and Settings)(?:{_BACK}|/)"
    # A Windows account may have spaces; then a separator tells where it ends.
    rf"(?:{_NAME}(?: {_NAME}){{1,2}}(?={_BACK})|{_NAME})"
)

# A path of one or two parts has nothing to hide, and `/api/v1/users`, `/login` and `/compact` are routes and commands,
# which conventions are about: only what starts at a root of real file systems is shortened.
_SYSTEM = (
    "opt srv var mnt media private tmp usr etc nix run proc root Volumes Library System Applications snap builds __w"
)
# Roots of containers and development machines.
_CONTAINER = (
    "app apps data work workdir workspace workspaces src source code build repo repos project projects github git dev"
)
_ROOTS = "|".join([*_SYSTEM.split(), *_CONTAINER.split()])
# Behind `@` it is an import alias, behind `*` a pattern.
_ABSOLUTE = re.compile(rf"(?<![*@]){_START}/(?:{_ROOTS})(?:/{_WILD}){{2,}}/?")
_WINDOWS = re.compile(
    rf"(?:(?<![A-Za-z0-9])[A-Za-z]:(?:{_BACK}|/)|(?<![\\\w])\\\\{_NAME}{_BACK}(?=\w))"
    rf"{_WILD}(?:(?:{_BACK}|/){_WILD})+(?:{_BACK}|/)?"
)

# `git@host:path` is the address of a repository, and the name in it nobody's.
_ADDRESS = re.compile(
    r"(?<![\w.%+~-])(?!git@)[\w.%+~-]{1,64}@(?:[^\W_](?:[\w-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![\w-]|\.\w)"
)


def redact(text: str, home: str | None = None) -> str:
    """The text with `[secret]`, `~` for home folders, `…/` before the last two parts of other absolute paths, and
    `[e-mail]`.

    `home` is one more folder to be taken for a home. URLs, routes and paths relative to the repository stay. Doing it
    twice changes nothing, and `scan` finds nothing in the result. RULES 4 "Evidence".
    """
    for _ in range(_ROUNDS):
        redacted = _ADDRESS.sub(E_MAIL, _hide_paths(_hide_secrets(text), home))
        if redacted == text:
            return text
        text = redacted
    # Nothing that people write gets here; what does is not shown at all.
    return HIDDEN


def clip_quote(text: str, most: int = 200) -> str:
    """The text on one line, cut at a word to `most` characters.

    Without an ellipsis, because a quote must literally be in its source (RULES 4 "Evidence").
    """
    line = one_line(text)
    if len(line) <= most:
        return line
    space = line.rfind(" ", 0, most + 1)
    if space >= most // 2 > 0:
        return line[:space]
    cut = most
    while cut > 1 and unicodedata.combining(line[cut]):
        cut -= 1
    return line[:cut].rstrip()


def _hide_secrets(text: str) -> str:
    pieces: list[str] = []
    at = 0
    for finding in scan(text):
        pieces += (text[at : finding.start], HIDDEN)
        at = finding.end
    return "".join([*pieces, text[at:]])


def _hide_paths(text: str, home: str | None) -> str:
    if home and len(home := home.rstrip("/\\")) > 2:
        text = re.sub(rf"(?<![\w.~/\\-]){re.escape(home).replace(*_DOUBLED)}(?![\w-])", "~", text)
    text = _HOME.sub("~", text)
    for pattern in (_ABSOLUTE, _WINDOWS):
        text = pattern.sub(_last_two, text)
    return text


def _last_two(match: re.Match[str]) -> str:
    path = match[0]
    dots = path[len(path.rstrip(".")) :]
    parts = [part for part in re.split(r"[\\/]+", path.rstrip(".")) if part]
    return f"…/{'/'.join(parts[-2:])}{dots}"
