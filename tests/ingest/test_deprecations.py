"""What code says of its own deprecation: decorators, warnings, logs, docstrings and fields."""

import ast

import pytest

from adk_evidence.api.deprecations import deprecation, docstring_deprecation, field_deprecation, module_deprecation


def definition(text: str) -> ast.ClassDef | ast.FunctionDef:
    node = ast.parse(text).body[-1]
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    return node


@pytest.mark.parametrize(
    ("doc", "told"),
    [
        ("Deprecated: use `run`.", "Deprecated: use `run`."),
        ("[DEPRECATED] Deploys.", "[DEPRECATED] Deploys."),
        ("Deploys an agent (deprecated).\n\nMore.", "Deploys an agent (deprecated)."),
        ("Deploys.\n\n.. deprecated:: 2.0", ".. deprecated:: 2.0"),
        ("This class is deprecated.", "This class is deprecated."),
        ("Handles instructions of the app (deprecated), of the agent and of the tool.", None),
        ("Deploys (see `run`). It takes what the old one took (deprecated).", None),
        ("Deploys.\n\nThe parameter `old` is deprecated.", None),
        ("", None),
    ],
)
def test_a_docstring_says_that_its_own_symbol_is_deprecated(doc: str, told: str | None) -> None:
    assert docstring_deprecation(doc) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("warnings.warn('Use run.', DeprecationWarning)", "Use run."),
        ("warnings.warn(message='Use run.', category=DeprecationWarning)", "Use run."),
        ("warnings.warn(TEXT, category=DeprecationWarning)", "This is deprecated."),
        ("warnings.warn('Slow.', UserWarning)", None),
        ("logger.warning('Deprecated. Please migrate to the async method.')", "Deprecated. Please migrate to"),
        ("logger.warning('The session is stale.')", None),
        ("logger.info('Deprecated.')", None),
        ("if old:\n        logger.warning('Deprecated.')", None),
        ("logger.warning()", None),
    ],
)
def test_a_body_warns_of_its_deprecation_whatever_the_arguments_are(body: str, told: str | None) -> None:
    for text in (f"def go(old=None):\n    {body}", f"class Go:\n  def __init__(self, old):\n    {body}"):
        found = deprecation(definition(text))
        assert found is None if told is None else (found or "").startswith(told), text


def test_a_decorator_counts_more_than_the_docstring_and_a_module_says_it_of_itself() -> None:
    assert deprecation(definition("@typing_extensions.deprecated('Use b.')\ndef a(): 'Deprecated: no.'")) == "Use b."
    logged = "def a():\n  'Deprecated: use b.'\n  logger.warning('a is deprecated.')"
    assert deprecation(definition(logged)) == "Deprecated: use b."
    assert deprecation(definition("@deprecated\nclass A: ...")) == "A is deprecated."
    assert module_deprecation(ast.parse("'Tools (deprecated).'\nx = 1")) == "Tools (deprecated)."


def test_a_field_says_it_in_its_value_or_below() -> None:
    body = ast.parse("a: int = Field(1, deprecated=True)\nb: int = 1\n'Deprecated: use a.'\nc = 2").body
    told = [
        field_deprecation(node, following)
        for node, following in zip(body, [*body[1:], None], strict=True)
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    assert told == ["This field is deprecated.", "Deprecated: use a.", None]
