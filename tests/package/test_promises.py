"""The list of promises names tests that are there."""

from __future__ import annotations

import pytest
from tests.promises import Promise, exists, main, promises


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: promise.text)
def test_a_promise_has_tests_and_they_exist(promise: Promise) -> None:
    assert promise.tests
    assert [test for test in promise.tests if not exists(test)] == []


def test_the_list_is_printed_narrowed_to_words(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = promises()[0]
    main([chosen.text])
    out = capsys.readouterr().out
    assert chosen.text in out
    assert chosen.tests[0] in out
    assert promises()[-1].text not in out
