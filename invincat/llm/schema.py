"""Tools as models see them, with their schemas made such that every endpoint takes them (cases/assistant 12)."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

# A schema that unfolds to more than this many nodes is a mistake or an attack.
_MOST_NODES: Final = 5000

# Keywords that say nothing to a model and that some endpoints refuse.
_DROPPED: Final = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$ref"})
_COMBINERS: Final = ("allOf", "anyOf", "oneOf")
_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS: Final = frozenset({*_COMBINERS, "prefixItems"})
# Keywords whose value is data, not schemas, and may be a list or an object.
_DATA: Final = frozenset({"required", "type", "enum", "const", "default", "examples"})
# In data these are no keywords, but endpoints that refuse them do not look so closely.
_REFUSED: Final = re.compile(rb'"[$](?:ref|schema)":')
_SINGLES: Final = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
# Any other keyword with a list or an object in it is not known, and could hide what endpoints refuse.
_STRUCTURED: Final = _MAPS | _LISTS | _SINGLES | _DATA


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it. `parameters` is an object schema without `$schema` and `$ref`: use `tool_spec`."""

    name: str
    description: str
    parameters: dict[str, Any]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError("a tool's name is 1 to 64 of A-Z a-z 0-9 _ -")
        if self.parameters.get("type") != "object" or not isinstance(self.parameters.get("properties"), dict):
            raise ValueError("a tool's parameters are an object with properties")


def tool_spec(name: str, description: str | None, schema: object) -> ToolSpec:
    """A tool from a schema of any origin; ValueError, with the reason, when it cannot be made usable."""
    return ToolSpec(name, description or "", _Normaliser(schema).root())


def tool_specs(raw: Iterable[tuple[str, str | None, object]]) -> tuple[list[ToolSpec], list[str]]:
    """Tools from (name, description, schema); what cannot be used or comes twice is left out with a warning line."""
    specs: dict[str, ToolSpec] = {}
    warnings = []
    for name, description, schema in raw:
        try:
            spec = tool_spec(name, description, schema)
        except ValueError as fault:
            warnings.append(f"the tool {name!r} is left out: {fault}")
            continue
        if name in specs:
            warnings.append(f"the tool {name!r} is left out: there is one of that name already")
        specs.setdefault(name, spec)
    return list(specs.values()), warnings


class _Normaliser:
    """Walks one schema. References are unfolded where they stand; one that leads back into itself becomes `{}`."""

    def __init__(self, schema: object) -> None:
        if schema is not None and not isinstance(schema, Mapping):
            raise ValueError("its schema is no object")
        try:
            self._schema: Any = msgspec.to_builtins(dict(schema or {}), str_keys=True)
        except (TypeError, ValueError, RecursionError) as fault:
            raise ValueError(f"its schema is no JSON: {fault}") from None
        self._nodes = 0

    def root(self) -> dict[str, Any]:
        try:
            found = self._walk(self._schema, ())
        except RecursionError:
            raise ValueError("its schema is nested too deeply") from None
        properties = found.setdefault("properties", {})
        # No endpoint we know takes alternatives at the top: offer what any of them has.
        for combiner in _COMBINERS:
            for branch in found.pop(combiner, ()):
                for name, schema in _mapping(branch.get("properties")).items():
                    properties.setdefault(name, schema)
                if combiner == "allOf":
                    found["required"] = [*_names(found.get("required")), *_names(branch.get("required"))]
        kind = found.get("type", "object")
        if kind != "object" and not (isinstance(kind, list) and "object" in kind):
            raise ValueError(f"its parameters are {kind!r}, not an object")
        required = [name for name in dict.fromkeys(_names(found.pop("required", ()))) if name in properties]
        rest = {key: value for key, value in found.items() if key not in {"type", "properties", "enum", "not"}}
        return {"type": "object", "properties": properties, **({"required": required} if required else {}), **rest}

    def _walk(self, schema: object, trail: tuple[str, ...]) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise ValueError(f"its schema unfolds to more than {_MOST_NODES} parts")
        if not isinstance(schema, dict):  # `true` and `false` are schemas, anything else is a mistake
            return {}
        while isinstance(ref := schema.get("$ref"), str):
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._resolve(ref), **beside}
            if ref in trail:
                # The kind is still true of what is cut.
                return {key: schema[key] for key in ("type", "description") if isinstance(schema.get(key), str)}
            trail = (*trail, ref)
        kind = schema.get("type")
        dropped = _DROPPED if isinstance(kind, str) or _names(kind) else {*_DROPPED, "type"}
        found = {
            key: self._value(key, value, trail)
            for key, value in schema.items()
            if key not in dropped and (_is_plain(value) if key in _DATA else _is_known(key, value))
        }
        if kind == "array":
            found.setdefault("items", {})
        return found

    def _value(self, key: str, value: object, trail: tuple[str, ...]) -> object:
        if key in _MAPS:
            return {name: self._walk(part, trail) for name, part in _mapping(value).items()}
        if key in _LISTS or (key in _SINGLES and isinstance(value, list)):
            parts = [self._walk(part, trail) for part in value] if isinstance(value, list) else []
            return parts if key in _LISTS else {"anyOf": parts} if parts else {}
        if key in _SINGLES:
            return value if isinstance(value, bool) else self._walk(value, trail)
        return _names(value) if key == "required" or (key == "type" and isinstance(value, list)) else value

    def _resolve(self, ref: str) -> dict[str, Any]:
        """The schema that a local reference names, `{}` for one that leads elsewhere or nowhere."""
        marker, *steps = ref.split("/")
        found = self._schema if marker == "#" else {}
        for step in steps:
            found = _mapping(found).get(step.replace("~1", "/").replace("~0", "~"))
        return _mapping(found)


def _is_known(key: str, value: object) -> bool:
    return key in _STRUCTURED or not isinstance(value, dict | list)


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict | list) or not _REFUSED.search(msgspec.json.encode(value))


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []
