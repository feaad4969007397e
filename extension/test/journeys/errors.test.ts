import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "mocha";
import type { Editor } from "../e2e/editor";
import { until } from "../e2e/until";
import { bench, closeWindow } from "./bench";

const RAISING = "return attempt < self.max_retries";
/** Wide enough that the terminal breaks no line of the traceback. */
const INSTALLED = "/env/google/adk/plugins/retry.py";

describe("an error in the editor", () => {
  let editor: Editor;
  /** The line that raises, in the indexed version; the installed version has the line elsewhere. */
  let line: number;

  before(async () => {
    const shared = await bench();
    const indexed = join(dirname(shared.workplace.home), "code", "src/google/adk/plugins/retry.py");
    line =
      readFileSync(indexed, "utf8")
        .split("\n")
        .findIndex((text) => text.includes(RAISING)) + 1;
    const traceback = [
      "Traceback (most recent call last):",
      '  File "/home/me/shop.py", line 3, in main',
      "    plugin.on_tool_error(error, None)",
      `  File "${INSTALLED}", line ${line + 40}, in on_tool_error`,
      `    ${RAISING}`,
      "TypeError: '<' not supported between instances of 'NoneType' and 'int'",
      "",
    ].join("\n");
    writeFileSync(join(shared.workplace.workspace, "crash.txt"), traceback);
    editor = await shared.open();
    await editor.openFile("agent.py");
  });
  after(() => closeWindow(editor));

  /** Wait until the first result is the line that raises. */
  async function explains(): Promise<void> {
    const first = editor.webview.locator(".card").first();
    await first.locator(".error-role", { hasText: `Raises the error: line ${line}` }).waitFor();
  }

  it("is explained from the selection, with the line of each call in google-adk", async () => {
    await editor.openFile("crash.txt");
    // The keys reach the text once the cursor is in it.
    await editor.select(1, 1, 0);
    await editor.page.keyboard.press("Control+A");
    await editor.cursor("selected");
    await editor.run("ADK Evidence: Explain This Error");
    await explains();
    const trace = editor.webview.locator(".error-trace");
    await trace.locator("summary", { hasText: "TypeError" }).click();
    await editor.picture("screenshots", "explained-error");
    await trace.getByRole("button", { name: `retry.py:${line}` }).click();
    await editor.cursorIn("retry.py", new RegExp(`^Ln ${line}, Col 1$`));
  });

  it("is explained from the terminal, and its call is a link to the indexed line", async () => {
    await editor.run("Terminal: Create New Terminal");
    await editor.page.locator(".terminal-wrapper.active").waitFor();
    await editor.page.keyboard.type("clear; cat crash.txt\n");
    const explain = "ADK Evidence: Explain the Error Selected in the Terminal";
    await until("the terminal has the traceback", 30_000, async () => {
      await editor.run("Terminal: Select All");
      await editor.run("Terminal: Copy Selection");
      return (await editor.clipboard()).includes("TypeError: '<'");
    });
    await editor.page.evaluate(() => navigator.clipboard.writeText("mine"));
    await editor.run("Terminal: Select All");
    await editor.run(explain);
    await explains();
    await until("the clipboard is as it was", 10_000, async () => (await editor.clipboard()) === "mine");
    await editor.picture("screenshots", "explained-terminal");
  });
});
