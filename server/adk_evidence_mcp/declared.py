"""How tools are declared: what a model needs to call each of them, since a model pays for every word in every request.

Tools are declared without output schemas, which cost more than all else and no model needs.
"""

from __future__ import annotations

from mcp import types
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from adk_evidence_mcp.tools import Tool

# Only texts that are pasted come near their limit; the error of a call names any other limit.
PASTED_CHARS = 8000


def declared(tool: Tool) -> types.Tool:
    """The tool as `tools/list` has it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(schema_generator=_ArgumentsSchema),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            # The protocol gives this hint a meaning only where a tool changes something.
            destructive_hint=None if tool.read_only else tool.destructive,
            open_world_hint=False,
        ),
    )


class _ArgumentsSchema(GenerateJsonSchema):
    """The JSON schema of arguments without titles, null, and limits that nobody reaches.

    Unknown arguments are refused whether or not the schema says so.
    """

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        # The tool has a title and a description of its own.
        return _without(super().model_schema(schema), "title", "description", "additionalProperties")

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return made if made.get("default") else _without(made, "default")

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        made = _without(super().str_schema(schema), "minLength")
        return made if made.get("maxLength", 0) >= PASTED_CHARS else _without(made, "maxLength")

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        made = super().int_schema(schema)
        return _without(made, "minimum") if made.get("minimum") == 1 else made

    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        return _without(super().tuple_schema(schema), "minItems", "maxItems")


def _without(schema: JsonSchemaValue, *names: str) -> JsonSchemaValue:
    return {name: value for name, value in schema.items() if name not in names}
