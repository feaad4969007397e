"""The languages that are read with tree-sitter: their grammars, and the nodes that define something.

Each query marks a definition with `@function`, `@class`, `@interface`, `@type`, `@enum`, `@variable` or `@namespace`,
its name with `@name`, the type that a function belongs to with `@owner`, and what makes a component of a function with
`@callee`. `@leading` marks decorators and the like that the tree has beside what they decorate.
"""

from __future__ import annotations

from typing import NamedTuple

from adk_evidence.languages import BY_EXTENSION

_EVERYWHERE = "(ERROR) @error"

_JAVASCRIPT = """
(comment) @comment
(decorator) @leading
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator name: (identifier) @name
  value: (call_expression
    function: [(identifier) @callee (member_expression property: (_) @callee)]
    arguments: (arguments . [(arrow_function) (function_expression)]))) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression left: (member_expression) @name right: (class)) @class
(export_statement value: [(arrow_function) (function_expression)]) @function
(export_statement value: (class)) @class
(program (_ (variable_declarator name: (identifier) @name) @variable))
(program (export_statement declaration: (_ (variable_declarator name: (identifier) @name) @variable)))
"""

_JAVASCRIPT_FIELDS = """
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(field_definition property: (property_identifier) @name) @variable
"""

_TYPESCRIPT = """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(function_signature name: (_) @name) @function
(variable_declarator name: (identifier) @name type: (type_annotation (function_type))) @function
(program (ambient_declaration (_ (variable_declarator name: (identifier) @name) @variable)))
(program (export_statement
  declaration: (ambient_declaration (_ (variable_declarator name: (identifier) @name) @variable))))
(interface_body (method_signature name: (_) @name) @function)
(class_body (method_signature name: (_) @name) @function)
(abstract_method_signature name: (_) @name) @function
(internal_module name: (_) @name) @namespace
(module name: (_) @name) @namespace
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(public_field_definition name: (property_identifier) @name) @variable
"""

_GO = """
(comment) @comment
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @function
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name type: (struct_type)) @class
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(const_spec name: (identifier) @name) @variable
(var_spec name: (identifier) @name) @variable
"""

_RUST = """
[(line_comment) (block_comment)] @comment
(attribute_item) @leading
(struct_item name: (_) @name) @class
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @class
(trait_item name: (_) @name) @interface
(type_item name: (_) @name) @type
(impl_item type: (_) @name) @class
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(mod_item name: (_) @name body: (_)) @namespace
(const_item name: (_) @name) @variable
(static_item name: (_) @name) @variable
"""

_C = """
(comment) @comment
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @class
(type_definition type: (union_specifier body: (_)) declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name) @enum
(type_definition declarator: (type_identifier) @name) @type
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (_ (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (_ (_ (function_declarator declarator: (_) @name)))) @function
(preproc_function_def name: (_) @name) @function
(preproc_def name: (_) @name) @variable
"""

_CPP = """
(class_specifier name: (_) @name body: (_)) @class
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type
(namespace_definition name: (_) @name) @namespace
"""

_C_SHARP = """
(comment) @comment
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(struct_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @class
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(local_function_statement name: (_) @name) @function
(property_declaration name: (_) @name) @variable
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
(namespace_declaration name: (_) @name) @namespace
"""


class Grammar(NamedTuple):
    """The module and the function that give a grammar, and the query for what defines something."""

    module: str
    function: str
    query: str


def _grammar(module: str, *queries: str, function: str = "language") -> Grammar:
    return Grammar(f"tree_sitter_{module}", function, "\n".join((_EVERYWHERE, *queries)))


# By what chunks call the language. C is read as C++, which it mostly is: the grammars of C and Java were tried and left
# out, because a few kilobytes of nonsense make their error recovery take gigabytes of memory; so does Python's.
GRAMMARS = {
    "ts": _grammar("typescript", _JAVASCRIPT, _TYPESCRIPT, function="language_typescript"),
    "tsx": _grammar("typescript", _JAVASCRIPT, _TYPESCRIPT, function="language_tsx"),
    "js": _grammar("javascript", _JAVASCRIPT, _JAVASCRIPT_FIELDS),
    "jsx": _grammar("javascript", _JAVASCRIPT, _JAVASCRIPT_FIELDS),
    "go": _grammar("go", _GO),
    "rust": _grammar("rust", _RUST),
    "c": _grammar("cpp", _C, _CPP),
    "cpp": _grammar("cpp", _C, _CPP),
    "cs": _grammar("c_sharp", _C_SHARP),
}

LANGUAGES = {extension: language for extension, language in BY_EXTENSION.items() if language.lang in GRAMMARS}
