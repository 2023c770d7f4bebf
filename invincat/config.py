"""Settings: what a person's file, a team's file and the environment say, with where each value comes from.

Flags beat environment, environment beats the team, the team beats the person, the person beats the defaults
(ASSISTANT "Talking to models"). The one exception adds up: what a person wants to review, no team's file takes back.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from invincat.errors import ConfigurationError
from invincat.governance.policy import Policy, Requirement
from invincat.memory.entry import Kind
from invincat.memory.yaml_scan import MalformedFile, Node, Segment, scan

MAX_FILE: Final = 64 * 1024
FORMAT: Final = 1
TEAM_FILE: Final = ".invincat/config.yaml"
# Where the SDK goes when nobody names an endpoint.
DEFAULT_URL: Final = "https://api.openai.com/v1"
# Values of `embedding` that are no model of the endpoint's.
OFF: Final = "off"
LOCAL: Final = "local"

VARIABLES: Final = {
    "model": "OPENAI_MODEL",
    "memory_model": "INVINCAT_MEMORY_MODEL",
    "base_url": "OPENAI_BASE_URL",
    "embedding": "INVINCAT_EMBEDDING",
}
# What a file of settings never says, and why.
_KEY = "a key does not belong into a file of settings; set OPENAI_API_KEY"
_NEVER: Final = {"api_key": _KEY, "key": _KEY, "openai_api_key": _KEY}
# What whoever can push must not decide for everybody who pulls.
_PERSONAL: Final = {
    "base_url": "a team's file cannot say where a person's words are sent; set it in your own",
    "embedding": "a team's file cannot say where a person's memories are sent; set it in your own",
    "hooks": "a team's file cannot run programs on a person's machine",
    "approvals": "a team's file cannot approve in a person's place",
    "permission_mode": "a team's file cannot approve in a person's place",
}


class Review(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`require`: what needs a person's yes before it is believed."""

    require: tuple[Requirement, ...] = ()


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a file of settings, each optional. Their comments are what `init --config` writes."""

    format: int = FORMAT
    model: str | None = None
    memory_model: str | None = None
    base_url: str | None = None
    embedding: str | None = None
    extraction: bool | None = None
    review: Review = Review()


_TYPES: Final = {"bool": "true or false", "str": "text", "int": "a whole number", "array": "a list", "object": "keys"}
KEYS: Final = tuple(name for name in File.__struct_fields__ if name not in {"format", "review"})
DEFAULTS: Final[Mapping[str, Any]] = {"extraction": True, "embedding": OFF}


class Value(msgspec.Struct, frozen=True):
    """A setting as it holds, and where it was set: `default`, a variable's name or `file:line`."""

    value: Any
    origin: str


class Settings(msgspec.Struct, frozen=True):
    """All settings, by key."""

    values: Mapping[str, Value]
    person: Policy = Policy()
    team: Policy = Policy()

    @property
    def extraction(self) -> bool:
        """Whether anything is learned from conversations."""
        return bool(self.values["extraction"].value)

    def policy(self, *, is_shared: bool) -> Policy:
        """Who needs a person's yes; a team has no say in what is a person's own."""
        return Policy((*self.person.require, *self.team.require)) if is_shared else self.person


class Read(msgspec.Struct, frozen=True):
    """A file of settings: its keys, and by key the line on which it stands."""

    where: str
    file: File
    lines: Mapping[str, int]


def load(person: Path | None, team: bytes | None, environment: Mapping[str, str]) -> Settings:
    """The settings of a person's file, a team's file and the environment; ConfigurationError when a file is bad."""
    own = parse(_read(person), str(person)) if person else None
    shared = parse(team, TEAM_FILE, is_team=True) if team is not None else None
    files = [read for read in (shared, own) if read is not None]
    values = {key: _value(key, files, environment) for key in KEYS}
    return Settings(
        values,
        Policy(own.file.review.require) if own else Policy(),
        Policy(shared.file.review.require) if shared else Policy(),
    )


def _value(key: str, files: Sequence[Read], environment: Mapping[str, str]) -> Value:
    variable = VARIABLES.get(key, "")
    if found := environment.get(variable):
        return Value(found, variable)
    for read in files:
        if (value := getattr(read.file, key)) is not None:
            return Value(value, f"{read.where}:{read.lines[key]}")
    return Value(DEFAULTS.get(key), "default")


def _read(path: Path) -> bytes:
    """A person's own file, empty where there is none; ConfigurationError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE + 1)
    except FileNotFoundError:
        return b""
    except OSError as fault:
        raise ConfigurationError(f"cannot be read: {fault.strerror}", where=str(path)) from None


def parse(data: bytes, where: str, *, is_team: bool = False) -> Read:
    """A file of settings; ConfigurationError names the file, the line, the key and what is near it."""
    keys, segments = scanned(data, where)
    lines = _lines_of(segments)
    for key, value in keys.items():
        reason = _NEVER.get(key) or (_PERSONAL.get(key) if is_team else None)
        if reason is None and key not in File.__struct_fields__:
            reason = f"is no setting{_near(key, File.__struct_fields__)}"
        if reason is None and value is None:
            reason = "has no value"
        if reason is None and isinstance(value, str) and key in _CHECKS:
            reason = _CHECKS[key](value)
        if reason:
            raise _bad(where, lines[key], key, reason)
    try:
        file = msgspec.convert(keys, File, strict=False)
    except msgspec.ValidationError as fault:
        key, line, message = _explain(str(fault), segments, lines)
        raise _bad(where, line, key, message) from None
    if file.format != FORMAT:
        raise _bad(where, lines["format"], "format", f"{file.format} is not known here; use a newer version")
    return Read(where, file, lines)


def scanned(data: bytes, where: str) -> tuple[dict[str, Node], tuple[Segment, ...]]:
    """The keys of a file of settings and its lines, read as strictly as a memory; ConfigurationError."""
    if len(data) > MAX_FILE:
        raise ConfigurationError(f"is larger than {MAX_FILE} bytes", where=where)
    try:
        text = data.decode("utf-8")
        if not any(line.strip() and not line.startswith("#") for line in text.splitlines()):
            return {}, (Segment(None, text, "", ""),)
        return scan(text)
    except UnicodeDecodeError:
        raise ConfigurationError("is not UTF-8", where=where) from None
    except MalformedFile as fault:
        # The scanner counts from the `---` that memories have above.
        raise ConfigurationError(
            fault.message.replace("front matter", "file"), where=_at(where, fault.line - 1)
        ) from None


def _lines_of(segments: Sequence[Segment]) -> dict[str, int]:
    lines, line = {}, 1
    for segment in segments:
        if segment.key is not None:
            lines[segment.key] = line + segment.head.count("\n")
        line += segment.text.count("\n")
    return lines


def _explain(fault: str, segments: Sequence[Segment], lines: Mapping[str, int]) -> tuple[str, int, str]:
    """Which key and line msgspec means, and what is wrong in words of ours."""
    message, _, path = fault.partition(" - at `$")
    path = path.strip("`").lstrip(".")
    key = re.split(r"[.\[]", path, maxsplit=1)[0]
    word = path.rpartition(".")[2]
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", message):
        word = unknown[1]
        names = Requirement.__struct_fields__ if "require" in path else Review.__struct_fields__
        path, message = f"{path}.{word}", f"is no setting{_near(word, names)}"
    elif invalid := re.fullmatch(r"Invalid enum value '(.*)'", message):
        word = invalid[1]
        message = f"{word!r} is no kind{_near(word, list(Kind))}"
    elif expected := re.match(r"Expected `(\w+)", message):
        message = f"must be {_TYPES.get(expected[1], expected[1])}"
    text = next((segment.lines for segment in segments if segment.key == key), "").splitlines()
    line = lines.get(key, 1) + next((number for number, one in enumerate(text) if word in one), 0)
    return path or key, line, message[:1].lower() + message[1:]


def _near(word: str, names: Sequence[str]) -> str:
    near = get_close_matches(word, names, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names)}"


def _url_fault(value: str) -> str | None:
    try:
        parts = urlsplit(value)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and not re.search(r"\s", value)
    except ValueError:
        is_usable = False
    return None if is_usable else f"{value!r} is no address of an endpoint; one is like {DEFAULT_URL}"


def _embedding_fault(value: str) -> str | None:
    """A model of an endpoint may have any name, but these are none."""
    meant = _SWITCHES.get(value.casefold()) or next(
        iter(get_close_matches(value.casefold(), (LOCAL, OFF), 1, 0.7)), None
    )
    return None if meant in {None, value} else f"{value!r} is no embedding model; did you mean {meant}?"


_SWITCHES: Final = {
    **dict.fromkeys(("on", "true", "yes", "1"), LOCAL),
    **dict.fromkeys(("false", "no", "none", "0"), OFF),
}
_CHECKS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "base_url": _url_fault,
    "embedding": _embedding_fault,
}


def near_key(key: str, keys: Sequence[str]) -> str:
    """What to tell who named a setting that there is not."""
    return f"{key!r} is no setting{_near(key, keys)}"


def _bad(where: str, line: int, key: str, message: str) -> ConfigurationError:
    return ConfigurationError(f"{key}: {message}", where=_at(where, line))


def _at(where: str, line: int) -> str:
    return f"{where}:{line}" if line > 0 else where


def with_value(data: bytes, where: str, key: str, value: str) -> bytes:
    """The file with a setting set, all other lines and comments as they were; ConfigurationError."""
    keys, segments = scanned(data, where)
    line = f"{key}: {_scalar(value)}\n"
    if key in keys:
        text = "".join(one.head + line + one.tail if one.key == key else one.text for one in segments)
    else:
        text = "".join(one.text for one in segments)
        text += ("\n" if text and not text.endswith("\n") else "") + line
    return text.encode()


def without(data: bytes, where: str, key: str) -> bytes | None:
    """The file without a setting, its other lines as they were; None where it does not set it; ConfigurationError."""
    keys, segments = scanned(data, where)
    if key not in keys:
        return None
    return "".join(f"{one.head}{one.tail}" if one.key == key else one.text for one in segments).encode()


def _scalar(value: str) -> str:
    """A value as YAML: plain where that cannot be taken for anything else."""
    return value if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", value) else msgspec.json.encode(value).decode()
