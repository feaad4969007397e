import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { source as axeSource } from "axe-core";
import { describe, it } from "mocha";
import type { Browser } from "playwright-core";
import type { ViewJob } from "../../src/webview/messages";
import { packOf, QUESTION, stateOf, variedPack } from "./packs";
import { TestPage } from "./page";
import { withBrowser } from "./suite";
import { THEMES, type ThemeName } from "./themes";

const PICTURES = process.env.ADK_EVIDENCE_PICTURES;

const CONSENT: ViewJob = {
  title: "Get started with ADK Evidence",
  lines: ["About 450 MB of Python packages are installed.", "It takes about three minutes."],
  fraction: null,
  left: "",
  actions: ["Get Started"],
};
const RUNNING: ViewJob = {
  title: "Setting up ADK Evidence",
  lines: ["Answers are found by keywords until this is done."],
  fraction: 0.426,
  left: "about 4 minutes left",
  actions: ["Stop"],
};
const STOPPED: ViewJob = {
  title: "Setting up is not complete",
  lines: [
    "Answers are found by keywords alone: the meaning of the texts is not read to the end. What is read already is kept.",
  ],
  fraction: null,
  left: "",
  actions: ["Resume"],
};
const AWAITED = stateOf(null, {
  phase: "error",
  question: QUESTION,
  error: { message: "Nothing is indexed yet.", awaited: true, actions: [{ title: "Get Started", id: "fix-0" }] },
});

describe("the card on setting up", () => {
  let browser: Browser;
  withBrowser((started) => {
    browser = started;
  });

  it("takes the place of the error that it mends, and names the question that waits", async () => {
    const test = await TestPage.open(browser);
    await test.show(AWAITED);
    const failure = test.page.getByRole("alert");
    await failure.waitFor();
    await test.send({ type: "job", job: CONSENT });
    await failure.waitFor({ state: "detached" });
    const card = test.page.getByRole("region", { name: CONSENT.title });
    await card.getByText(QUESTION.query).waitFor();
    await card.getByRole("button", { name: "Get Started" }).click();
    await test.send({ type: "job", job: RUNNING });
    await test.page.getByRole("button", { name: "Stop" }).click();
    assert.deepEqual(
      (await test.sent()).filter(({ type }) => type === "action"),
      [
        { type: "action", id: "job-Get Started" },
        { type: "action", id: "job-Stop" },
      ],
    );
    await test.send({ type: "job", job: null });
    await failure.waitFor();
    await test.close();
  });

  it("leaves other errors where they are", async () => {
    const test = await TestPage.open(browser);
    const error = { message: "The index is damaged.", awaited: false, actions: [] };
    await test.show(stateOf(null, { phase: "error", question: QUESTION, error }));
    await test.send({ type: "job", job: CONSENT });
    await test.page.getByRole("region", { name: CONSENT.title }).waitFor();
    assert.equal(await test.page.getByRole("alert").count(), 1);
    await test.close();
  });

  it("has a bar with its value and the time left, above the results", async () => {
    const test = await TestPage.open(browser);
    await test.show(stateOf(packOf(variedPack().candidates)));
    await test.send({ type: "job", job: RUNNING });
    const bar = test.page.getByRole("progressbar", { name: RUNNING.title });
    assert.equal(await bar.getAttribute("value"), "42");
    await test.page.getByText("42 %, about 4 minutes left").waitFor();
    const first = await test.page.locator(".card").first().boundingBox();
    assert.ok(((await bar.boundingBox())?.y ?? 0) < (first?.y ?? 0));
    await test.close();
  });

  it("says once and in its own words that keywords alone answer, with a card and without one", async () => {
    const test = await TestPage.open(browser, { width: 300, height: 600 });
    const pack = variedPack();
    await test.show(
      stateOf({
        ...pack,
        index: pack.index && { ...pack.index, dense: "pending" },
        quality: { level: "keyword_only", note: "Found by keywords only; the semantic side was not available." },
        // A fact of the moment of the answer.
        warnings: [{ code: "dense_pending", text: "the dense vectors are still being computed; Wait for it." }],
      }),
    );
    const said = test.page.getByText(/keywords/i);
    await test.page.getByText("Keywords only").waitFor();
    assert.equal(await said.count(), 1);
    for (const job of [RUNNING, STOPPED]) {
      await test.send({ type: "job", job });
      await test.page.getByText(job.lines[0] ?? "").waitFor();
      assert.equal(await said.count(), 1);
      const first = await test.page.locator(".card").first().boundingBox();
      assert.ok((first?.y ?? 600) < 240, `the answer begins at ${first?.y} of 600 pixels`);
    }
    assert.equal(await test.page.getByText(/still being computed/).count(), 0);
    await test.close();
  });

  it("shows texts of others as texts", async () => {
    const test = await TestPage.open(browser);
    await test.show(stateOf(null));
    const line = '<img src="https://evil.example/x.png" onerror="document.title=1"> [a](command:x)';
    await test.send({ type: "job", job: { ...RUNNING, lines: [line] } });
    await test.page.getByText(line).waitFor();
    assert.equal(await test.page.locator(".get-started img, .get-started a").count(), 0);
    await test.close();
  });

  for (const theme of Object.keys(THEMES) as ThemeName[]) {
    for (const width of [300, 1000]) {
      it(`fits ${width} pixels, and breaks no rule of axe, in ${theme}`, async () => {
        const test = await TestPage.open(browser, { theme, width, height: 900 });
        await test.page.evaluate(axeSource);
        for (const [name, job] of Object.entries({ consent: CONSENT, running: RUNNING })) {
          await test.show(stateOf(name === "consent" ? null : packOf(variedPack().candidates.slice(0, 1))));
          await test.send({ type: "job", job });
          await test.page.getByRole("region", { name: job.title }).waitFor();
          const { violations } = await test.page.evaluate(() => window.axe.run({}));
          const told = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
          assert.deepEqual(told, [], name);
          const over = await test.page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
          if (PICTURES !== undefined) {
            fs.mkdirSync(PICTURES, { recursive: true });
            await test.page.screenshot({ path: path.join(PICTURES, `get-started-${name}-${theme}-${width}.png`) });
          }
        }
        await test.close();
      });
    }
  }
});
