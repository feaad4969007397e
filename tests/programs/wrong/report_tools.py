"""Tools that keep reports as artifacts."""

import csv
import io

from google.adk.tools import ToolContext
from google.genai import types


async def export_report(rows: list[dict], tool_context: ToolContext) -> dict:
    """Writes rows to report.csv."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    part = types.Part.from_bytes(data=out.getvalue().encode(), mimetype="text/csv")  # wrong: foreign it is mime_type
    version = tool_context.save_artifact("report.csv", part)  # wrong: missing-await version is a coroutine
    return {"status": "ok", "version": version}


async def has_reports(tool_context: ToolContext) -> dict:
    """Tells whether there are reports."""
    if not tool_context.list_artifacts():  # wrong: missing-await a coroutine is always true
        return {"reports": False}
    return {"reports": True}


def read_report(name: str, tool_context: ToolContext) -> dict:
    """Reads a report."""
    part = tool_context.load_artifact(filename=name)  # wrong: missing-await the tool is not async
    if part is None or part.inline_data is None:
        return {"error": "no such report"}
    return {"text": part.inline_data.data.decode()}


async def similar_reports(topic: str, tool_context: ToolContext) -> dict:
    """Finds earlier reports."""
    found = [entry.content for entry in tool_context.search_memory(topic).memories]  # wrong: missing-await no memories there
    if not found:
        tool_context.actions.transfer_to = "archivist"  # wrong: unknown-attribute it is transfer_to_agent
    return {"found": len(found)}
