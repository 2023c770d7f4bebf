"""Case 12: schemas of any origin are normalised, or their tool is left out with a warning."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.llm.schema import ToolSpec, tool_spec, tool_specs
from tests.fakes.strictness import Strict, check

_STRICT = Strict()

_NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "size": {"type": "integer"}}}
_CUT = {"type": "object", "properties": {"next": {"type": "object"}, "size": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "properties"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "object"}, {}),
        ({"type": ["object", "null"], "properties": {"a": True}}, {"a": {}}),
        (
            {"$schema": "x", "$id": "y", "properties": {"a": {"$schema": "z", "type": "string"}}},
            {"a": {"type": "string"}},
        ),
        ({"properties": {"$ref": {"type": "string"}, "$schema": {}}}, {"$ref": {"type": "string"}, "$schema": {}}),
        ({"properties": {"a": {"type": "array"}}}, {"a": {"type": "array", "items": {}}}),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}, {"a": {"type": "string"}}),
        (
            {"properties": {"a": {"$ref": "#/$defs/A", "description": "d"}}, "$defs": {"A": {"type": "string"}}},
            {"a": {"type": "string", "description": "d"}},
        ),
        ({"properties": {"a": {"$ref": "https://example.com/s"}, "b": {"$ref": "#/nowhere"}}}, {"a": {}, "b": {}}),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}, {"a": {}}),
        (
            {"properties": {"a": {"items": [{"type": "string"}, {}]}}},
            {"a": {"items": {"anyOf": [{"type": "string"}, {}]}}},
        ),
        ({"properties": {"a": {"additionalProperties": False}}}, {"a": {"additionalProperties": False}}),
        ({"properties": {"a": {"type": {"$ref": "#"}, "items": True}}}, {"a": {"items": True}}),
        ({"$ref": "#/$defs/Node", "$defs": {"Node": _NODE}}, _CUT["properties"]),
        ({"properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": _NODE}}, {"n": _CUT}),
        ({"properties": {"self": {"$ref": "#"}}}, {"self": {"properties": {"self": {}}}}),
        (
            {"anyOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {"type": "string"}}}]},
            {"a": {}, "b": {"type": "string"}},
        ),
    ],
)
def test_schemas_are_normalised(schema, properties):
    assert tool_spec("x", None, schema).parameters["properties"] == properties


def test_required_names_only_what_is_there():
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a", "c", 1, "a"], "allOf": [{"required": ["b"]}]}
    assert tool_spec("x", "", schema).parameters["required"] == ["a", "b"]
    assert "required" not in tool_spec("x", "", {"required": ["c"]}).parameters


def _doubling(levels):
    """A schema that unfolds to 2 to the power of `levels` parts."""
    parts = {
        str(at): {"properties": {"l": {"$ref": f"#/$defs/{at + 1}"}, "r": {"$ref": f"#/$defs/{at + 1}"}}}
        for at in range(levels)
    }
    return {"properties": {"a": {"$ref": "#/$defs/0"}}, "$defs": parts}


def _nested(levels):
    schema = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("name", "schema", "why"),
    [
        ("x", [], "no object"),
        ("x", {"type": "string"}, "'string'"),
        ("x", {"properties": {"a": {"default": object()}}}, "no JSON"),
        ("x", _doubling(30), "more than"),
        ("x", _nested(100_000), "deep|JSON"),
        ("a b", {}, "name"),
        ("", {}, "name"),
        ("x" * 65, {}, "name"),
    ],
)
def test_a_bad_tool_is_left_out_with_a_warning(name, schema, why):
    specs, warnings = tool_specs([("good", "", {}), (name, "", schema), ("good", "twice", {})])
    assert [spec.name for spec in specs] == ["good"]
    assert len(warnings) == 2
    with pytest.raises(ValueError, match=why):
        tool_spec(name, "", schema)


def test_a_wrong_spec_cannot_be_built():
    with pytest.raises(ValueError, match="object"):
        ToolSpec("x", "", {"type": "object"})


_KEYWORDS = [
    "type",
    "properties",
    "$ref",
    "$defs",
    "$schema",
    "A",
    "items",
    "anyOf",
    "allOf",
    "required",
    "enum",
    "not",
]
_SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "array", "string", "#", "#/$defs/A", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYWORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@settings(max_examples=80, deadline=None)
@given(_SCHEMAS)
def test_any_schema_is_taken_or_left_out(schema):
    specs, warnings = tool_specs([("x", None, schema)])
    assert len(specs) + len(warnings) == 1
    for spec in specs:
        function = {
            "name": spec.name,
            "description": spec.description,
            "parameters": json.loads(json.dumps(spec.parameters)),
        }
        tools = [{"type": "function", "function": function}]
        check({"model": "f", "stream": True, "messages": [{"role": "user", "content": "x"}], "tools": tools}, _STRICT)
        assert tool_spec("x", None, spec.parameters) == spec
