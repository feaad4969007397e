"""The languages that are read with tree-sitter: their grammars, and the nodes that define something.

Each query marks a definition with `@function`, `@class`, `@interface`, `@type`, `@enum`, `@variable` or `@namespace`,
its name with `@name`, and the type that a function belongs to with `@owner`. A `@module` is a namespace where it holds
types alone, and a class otherwise. A pattern counts only where the text of each `@callee` is one of the words that it
sets. `@leading` marks decorators and the like above what they decorate or at its head.
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
((variable_declarator name: (identifier) @name
  value: (call_expression
    function: [(identifier) @callee (member_expression property: (_) @callee)]
    arguments: (arguments . [(arrow_function) (function_expression)]))) @function
  (#set! callee "memo forwardRef observer"))
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

_JAVA = """
[(line_comment) (block_comment)] @comment
[(annotation) (marker_annotation)] @leading
[(class_declaration name: (_) @name) (record_declaration name: (_) @name)] @class
[(interface_declaration name: (_) @name) (annotation_type_declaration name: (_) @name)] @interface
(enum_declaration name: (_) @name) @enum
[(method_declaration name: (_) @name) (constructor_declaration name: (_) @name)
  (annotation_type_element_declaration name: (_) @name)] @function
[(field_declaration declarator: (_ name: (_) @name)) (constant_declaration declarator: (_ name: (_) @name))] @variable
"""

_KOTLIN = """
[(line_comment) (block_comment)] @comment
(annotation) @leading
(class_declaration "interface" name: (_) @name) @interface
(class_declaration name: (_) @name (enum_class_body)) @enum
[(class_declaration name: (_) @name) (object_declaration name: (_) @name)] @class
[(function_declaration name: (_) @name) (secondary_constructor "constructor" @name)] @function
(type_alias type: (_) @name) @type
(property_declaration (variable_declaration . (identifier) @name)) @variable
"""

_PHP = """
(comment) @comment
(class_declaration name: (_) @name) @class
[(interface_declaration name: (_) @name) (trait_declaration name: (_) @name)] @interface
(enum_declaration name: (_) @name) @enum
[(function_definition name: (_) @name) (method_declaration name: (_) @name)] @function
(assignment_expression left: (variable_name (name) @name) right: [(anonymous_function) (arrow_function)]) @function
[(const_declaration (const_element . (name) @name))
  (property_declaration (property_element name: (variable_name (name) @name)))] @variable
"""

_RUBY = """
(comment) @comment
(module name: (_) @name) @module
(class name: (_) @name) @class
[(method name: (_) @name) (singleton_method name: (_) @name)] @function
((assignment left: (constant) @name right: (call receiver: (constant) @callee)) @class
  (#set! callee "Class Data Module Struct"))
(assignment left: (constant) @name) @variable
((call method: (identifier) @callee arguments: (argument_list (simple_symbol) @name)) @variable
  (#set! callee "attr_accessor attr_reader attr_writer define_method"))
"""

_SWIFT = """
[(comment) (multiline_comment)] @comment
(attribute) @leading
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @interface
(typealias_declaration name: (type_identifier) @name) @type
[(function_declaration "func" . name: _ @name) (protocol_function_declaration . name: _ @name)
  (protocol_function_declaration "func" . name: _ @name) (init_declaration name: _ @name)
  (deinit_declaration "deinit" @name) (subscript_declaration "subscript" @name)
  (macro_declaration (simple_identifier) @name)] @function
[(property_declaration name: (pattern bound_identifier: (_) @name))
  (protocol_property_declaration name: (pattern bound_identifier: (_) @name))] @variable
"""

_SCALA = """
[(comment) (block_comment)] @comment
(annotation) @leading
[(class_definition name: (_) @name) (object_definition name: (_) @name) (given_definition name: (_) @name)] @class
(trait_definition name: (_) @name) @interface
(enum_definition name: (_) @name) @enum
(type_definition name: (_) @name) @type
(package_object name: (_) @name) @module
[(function_definition name: (_) @name) (function_declaration name: (_) @name)] @function
[(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)] @variable
"""

_LUA = """
(comment) @comment
(function_declaration name: [(identifier) (dot_index_expression)] @name) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name)) @function
(assignment_statement
  (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
(assignment_statement (variable_list name: (identifier) @name)) @variable
"""

_ELIXIR = """
(comment) @comment
((unary_operator operand: (call target: (identifier) @callee)) @comment (#set! callee "doc typedoc"))
((unary_operator operand: (call target: (identifier) @callee)) @leading (#set! callee "deprecated impl spec"))
((call target: (identifier) @callee (arguments . (alias) @name)) @module (#set! callee "defmodule"))
((call target: (identifier) @callee (arguments . (alias) @name)) @class (#set! callee "defimpl"))
((call target: (identifier) @callee (arguments . (alias) @name)) @interface (#set! callee "defprotocol"))
((call target: (identifier) @callee (arguments . [
    (identifier) @name (call target: (identifier) @name)
    (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @function
  (#set! callee "def defdelegate defguard defguardp defmacro defmacrop defn defnp defp"))
((unary_operator operand: (call target: (identifier) @callee
    (arguments . (binary_operator left: (call target: (identifier) @name))))) @function
  (#set! callee "callback macrocallback"))
"""

_HASKELL = """
[(comment) (haddock)] @comment
[(data_type name: (_) @name) (newtype name: (_) @name) (instance name: (_) @name)] @class
(class name: (_) @name) @interface
[(type_synonym name: (_) @name) (type_family name: (_) @name) (data_family name: (_) @name)] @type
(declarations [(signature name: (_) @name) (function name: (_) @name) (bind name: (_) @name)
  (function (infix operator: (_) @name))] @function)
(_ declaration: [(signature name: (_) @name) (function name: (_) @name) (bind name: (_) @name)
  (function (infix operator: (_) @name))] @function)
"""

_ZIG = """
(comment) @comment
(variable_declaration . (identifier) @name (enum_declaration)) @enum
(variable_declaration . (identifier) @name
  [(struct_declaration) (union_declaration) (opaque_declaration) (error_set_declaration)]) @class
(function_declaration name: (_) @name
  body: (block (expression_statement (return_expression (struct_declaration))))) @class
(function_declaration name: (_) @name) @function
(source_file (variable_declaration . (identifier) @name) @variable)
"""

_BASH = """
(comment) @comment
(function_definition name: (_) @name) @function
(program [(variable_assignment name: (_) @name) (declaration_command (variable_assignment name: (_) @name))] @variable)
"""


class Grammar(NamedTuple):
    """The module and the function that give a grammar, and the query for what defines something.

    Of code in the language, a parser may report its progress once in `bytes_a_report` bytes.
    """

    module: str
    function: str
    query: str
    bytes_a_report: int


def _grammar(module: str, *queries: str, function: str = "language", bytes_a_report: int = 50) -> Grammar:
    return Grammar(f"tree_sitter_{module}", function, "\n".join((_EVERYWHERE, *queries)), bytes_a_report)


# By what chunks call the language. C is read as C++, which it mostly is: the grammar of C was tried and left out, as
# a few kilobytes of nonsense make its error recovery take gigabytes; so does Python's. So would Java's, if its parser
# might report its progress as often as others.
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
    "java": _grammar("java", _JAVA, bytes_a_report=80),
    "kotlin": _grammar("kotlin", _KOTLIN),
    "php": _grammar("php", _PHP, function="language_php"),
    "ruby": _grammar("ruby", _RUBY),
    "swift": _grammar("swift", _SWIFT),
    "scala": _grammar("scala", _SCALA),
    "lua": _grammar("lua", _LUA),
    "elixir": _grammar("elixir", _ELIXIR),
    "haskell": _grammar("haskell", _HASKELL),
    "zig": _grammar("zig", _ZIG),
    "bash": _grammar("bash", _BASH),
}

LANGUAGES = {extension: language for extension, language in BY_EXTENSION.items() if language.lang in GRAMMARS}
