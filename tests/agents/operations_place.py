"""A home with the small kit as the main index and a shop of four languages as an index of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema

from adk_evidence.settings import Settings
from adk_evidence_agents.operations.execute import execute
from adk_evidence_agents.operations.requests import TASK_OF
from adk_evidence_agents.operations.responses import OperationResponse, operation_schema
from adk_evidence_agents.session import AgentSession
from adk_ingest.indexes.codebase import CodebaseIndexer
from tests.agents.conftest import HOSTILE_MODULE, HOSTILE_PAGE
from tests.corpora import CODE, DOCS, HashEmbedder, Workplace, shared_sparse, write_code, write_docs, write_files

SHOP: dict[str, str] = {
    "src/basket.ts": """\
import { priceOf } from "./prices";

/** The basket of one customer. */
export class Basket {
  private lines: Line[] = [];

  add(article: string, count: number): void {
    this.lines.push({ article, count });
  }
}

/** What everything in the basket costs, with the discount taken off. */
export function totalPrice(lines: Line[], discount: number): number {
  const sum = lines.reduce((total, line) => total + priceOf(line.article) * line.count, 0);
  return sum * (1 - discount);
}
""",
    "src/prices.ts": """\
/** The price of one article in cents. */
export function priceOf(article: string): number {
  return lookUp(article) ?? 0;
}
""",
    "src/checkout.ts": """\
import { totalPrice } from "./basket";

/** Lets a customer pay for a basket. */
export async function checkOut(lines: Line[]): Promise<Receipt> {
  const amount = totalPrice(lines, 0);
  return payWithCard(amount);
}
""",
    "jobs/report.py": '''\
"""Mails the turnover of a day."""

from jobs.turnover import turnover_of


def mail_report(day: str) -> None:
    """Send the report of a day to the accountants."""
    send_mail("accounts", turnover_of(day))
''',
    "jobs/turnover.py": '''\
"""Counts turnover."""


def turnover_of(day: str) -> int:
    """The turnover of a day in cents."""
    receipts = load_receipts(day)
    return sum(receipt.amount for receipt in receipts)


def turnover_of_month(days: list[str]) -> int:
    """The turnover of a month in cents."""
    receipts = [receipt for day in days for receipt in load_receipts(day)]
    return sum(receipt.amount for receipt in receipts)
''',
    "stats/season.R": """\
# Smooths the turnover of a season.
smooth_season <- function(turnover, span = 7) {
  stats::filter(turnover, rep(1 / span, span))
}
""",
    "docs/discounts.md": """\
# Discounts

The function `totalPrice` takes the discount off the whole basket, not off each article.
""",
    "docs/hostile.md": HOSTILE_PAGE,
    "jobs/zebra.py": HOSTILE_MODULE,
}


def make_place(root: Path, pages: Mapping[str, str] = MappingProxyType({})) -> Workplace:
    """The main index, with some more pages, and the index `shop`; hostile texts are in both."""
    place = Workplace(root)
    write_docs(place.docs, {**DOCS, "docs/zebra.md": HOSTILE_PAGE, **pages})
    write_code(place.code, {**CODE, "src/google/adk/zebra.py": HOSTILE_MODULE})
    place.ingest()
    write_files(shop_folder(place), SHOP)
    done = ask(AgentSession(lambda: place.settings), "index_codebase", **shop_parameters(place))
    assert done.status == "success", done.errors
    return place


def shop_folder(place: Workplace) -> Path:
    return place.root / "shop"


def shop_parameters(place: Workplace) -> dict[str, Any]:
    return {"codebase_path": str(shop_folder(place)), "collection_name": "shop"}


def make_indexer(settings: Settings) -> CodebaseIndexer:
    return CodebaseIndexer(settings, dense=HashEmbedder(), sparse=shared_sparse())


def make_request(kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A request as JSON has it; parameters that are None are left to their defaults."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return {"task_type": TASK_OF[kind], "operation": {"type": kind, "parameters": given}}


def ask(
    session: AgentSession, kind: str, *, cancelled: Callable[[], bool] = lambda: False, **parameters: Any
) -> OperationResponse:
    """One operation, whose request and response keep to the published schemas."""
    request = make_request(kind, parameters)
    validate("request", request)
    return checked(execute(request, session, make_indexer=make_indexer, cancelled=cancelled))


def send(session: AgentSession, request: Any) -> OperationResponse:
    """Any request, valid or not; the response keeps to the published schema."""
    return checked(execute(request, session, make_indexer=make_indexer))


def checked(response: OperationResponse) -> OperationResponse:
    validate("response", response.as_json())
    assert OperationResponse.model_validate_json(response.model_dump_json()) == response
    assert (response.status == "failed") == any(error.severity == "critical" for error in response.errors)
    return response


def validate(name: Any, value: Mapping[str, Any]) -> None:
    validator(name).validate(value)


@cache
def validator(name: Any) -> jsonschema.Draft202012Validator:
    schema = operation_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
