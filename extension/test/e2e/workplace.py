"""Makes the home folder of the tests in the editor: `python workplace.py ROOT`.

ROOT gets two small corpora, some of whose texts try to be more than text, and an index of both; no model is needed.
`ROOT/hostile.json` lists those texts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.corpora import Workplace, write_code
from tests.lsp.conftest import FILES, RETRY_GUIDE
from tests.lsp.hostile import PAYLOADS

# The word that finds these pages and no others.
HOSTILE_WORD = "zzhostile"
# Sections of a page are kept apart in chunks by their size.
FILLER = " ".join(f"Sentence {number} says nothing of interest." for number in range(30))


def hostile_page(number: int, payload: str) -> str:
    """A page of the docs with a payload in its heading and in its text."""
    (first_line, *_) = payload.strip().splitlines() or [""]
    text = f"{HOSTILE_WORD} payload {number}:\n\n{payload}"
    return f"# {HOSTILE_WORD} {number} {first_line[:200]}\n\n{text}\n\n{FILLER}\n"


def main() -> None:
    """Write the corpora and ingest them."""
    workplace = Workplace(Path(sys.argv[1]))
    write_code(workplace.code, FILES)
    docs = workplace.docs / "docs"
    guide = docs / "tools" / "retry.md"
    guide.write_text(guide.read_text() + RETRY_GUIDE)
    # A page with this character is taken for a binary file.
    payloads = [payload for payload in PAYLOADS if "\x00" not in payload]
    (workplace.root / "hostile.json").write_text(json.dumps(payloads), encoding="utf-8")
    for number, payload in enumerate(payloads):
        page = docs / "hostile" / f"page-{number}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(hostile_page(number, payload), encoding="utf-8", errors="surrogatepass")
    workplace.ingest()


if __name__ == "__main__":
    main()
