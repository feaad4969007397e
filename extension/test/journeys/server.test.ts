import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, it } from "mocha";
import type { Editor } from "../e2e/editor";
import { processesWith } from "../e2e/processes";
import { until } from "../e2e/until";
import { type Bench, bench, closeWindow } from "./bench";

const READY = /ADK Evidence is ready/;

describe("a server that ends unexpectedly", () => {
  let shared: Bench;
  let editor: Editor;

  before(async () => {
    shared = await bench();
    editor = await shared.open();
    await editor.openFile("agent.py");
  });
  after(() => closeWindow(editor));

  function servers(): number[] {
    return processesWith("server.py", "lsp", path.dirname(shared.workplace.home));
  }

  /** Kill the server and wait until another runs, or the extension gives up. */
  async function kill(gaveUp: () => Promise<boolean>): Promise<void> {
    await until("a server runs", 60_000, () => servers().length === 1);
    await editor.status(READY).waitFor();
    const [victim] = servers();
    assert.ok(victim);
    process.kill(victim, "SIGKILL");
    await until("the server was replaced", 60_000, async () => {
      const [next] = servers();
      return (next !== undefined && next !== victim) || gaveUp();
    });
  }

  it("is started again, and the next question is answered", async () => {
    await kill(async () => false);
    await editor.select(6, 10, "RetryPlugin".length);
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.locator(".card").first().waitFor();
    assert.equal(await editor.notification(/./).count(), 0);
  });

  it("stays off when that happens again and again, and says so once, with a way back", async () => {
    const gaveUp = editor.status(/ADK Evidence does not run/);
    for (let crash = 0; crash < 3; crash++) {
      await kill(() => gaveUp.isVisible());
    }
    await gaveUp.waitFor();
    const message = await editor.message("ended unexpectedly several times");
    assert.equal(await message.count(), 1);
    await editor.picture("screenshots", "crashed");
    await editor.press(message, "Restart Server");
    await until("a server runs", 60_000, () => servers().length === 1);
    await editor.run("ADK Evidence: Find ADK Evidence");
    await editor.webview.locator(".card").first().waitFor();
  });
});
