import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { Page } from "playwright-core";
import type { Candidate, EvidenceResult, Outline } from "../../src/protocol/generated";
import { namedLine } from "../../src/text/untrusted";
import { codeCandidate, docsCandidate, outlineOf, packOf, QUESTION, stateOf } from "./packs";
import type { TestPage } from "./page";
import { GIANTS, PAYLOADS } from "./payloads";
import { withPage } from "./suite";

/** A candidate with a payload in every text that it has. */
function poisoned(payload: string, index: number): Candidate {
  const base = index % 2 === 0 ? docsCandidate() : codeCandidate();
  return {
    ...base,
    rank: index + 1,
    candidate_id: `${payload.slice(0, 500)}#${index}`,
    collection: payload,
    origin: payload,
    repo: payload,
    ref: payload,
    path_or_url: payload,
    path: payload,
    chunk_id: payload,
    text: `${payload}\n${payload}`,
    context: payload,
    attached: payload,
    attached_shown: `[INCLUDED ${payload.replace(/[\]\n]/g, " ")}]\n${payload}`,
    symbol: payload,
    headings: [payload, payload],
    title: payload,
    language: index % 3 === 0 ? payload : base.language,
    citation: payload,
    verification: { state: "changed", lines: { start: 1, end: 2 }, path: null, reason: payload },
    why: {
      ...base.why,
      branches: [{ branch: payload, rank: 1 }],
      matched_terms: [payload, "script", "img"],
    },
  };
}

function poisonedOutline(payload: string, index: number): Outline {
  return {
    citation: payload,
    path: payload,
    title: payload,
    ranks: [index + 1],
    parts: Array.from({ length: 9 }, (_, part) => ({ name: payload, lines: { start: part + 1, end: part + 1 } })),
    more: 1,
  };
}

function poisonedPack(payloads: string[]): EvidenceResult {
  const joined = payloads.join(" ");
  const corpus = { repo: joined, commit: joined, ref: joined, source: joined, chunks: 1, content: null };
  return packOf(payloads.map(poisoned), {
    pack_id: joined,
    query: joined,
    profile: joined,
    quality: { level: "mixed", note: joined },
    warnings: payloads.map((text) => ({ code: "coverage", text })),
    outlines: payloads.map(poisonedOutline),
    places: payloads.map(poisonedOutline),
    index: {
      generation: joined,
      created_at: joined,
      content: null,
      fingerprint: joined,
      dense: "complete",
      dense_model: null,
      corpora: Object.fromEntries([[joined, corpus]]),
    },
    // What comes over the wire may have members of any name.
    debug: JSON.parse(JSON.stringify({ timings_ms: { [joined]: 1 } })),
    queryUsed: { text: joined, origin: "selection", selection: joined, enclosing: joined, symbols: payloads },
  });
}

/** Elements that only a payload could have made, and attributes that only a payload could have set. */
const FOREIGN = `script:not([src="https://page.test/webview.js"]), link:not([href="https://page.test/webview.css"]),
  style, img, iframe, object, embed, base, meta:not(head > meta), template, video, audio, source, marquee, math, form form,
  a:not(.prose a[href^="https://"]), svg script, svg animate, svg use, x-card, slot, b, u, details:not(.why > details), noscript,
  [href]:not(link, .prose a), [src]:not(script),
  [srcset], [srcdoc], [formaction], [action]`;

/** Presses every button of a kind, also those that are out of sight. */
function pressAll(page: Page, selector: string): Promise<void> {
  return page.evaluate((buttons) => {
    for (const button of document.querySelectorAll<HTMLElement>(buttons)) {
      button.click();
    }
  }, selector);
}

describe("hostile text", () => {
  let test: TestPage;
  // Each test says itself what is harmless.
  withPage(
    (opened) => {
      test = opened;
    },
    async () => undefined,
  );

  async function assertHarmless(): Promise<void> {
    const { page } = test;
    const found = await page.evaluate((foreign) => {
      const elements = [...document.querySelectorAll(foreign)];
      const handlers = [...document.querySelectorAll("*")].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith("on")),
      );
      return {
        executed: window.__executed,
        foreign: elements.map((element) => element.outerHTML.slice(0, 200)),
        handlers,
        visible: getComputedStyle(document.body).display,
        polluted: "polluted" in {},
      };
    }, FOREIGN);
    assert.deepEqual(found, { executed: [], foreign: [], handlers: [], visible: "block", polluted: false });
    assert.equal(page.url(), "https://page.test/");
    assert.equal(page.frames().length, 1);
    assert.deepEqual(test.requests, []);
    assert.deepEqual(test.dialogs, []);
    assert.deepEqual(test.popups, []);
    assert.deepEqual(test.problems, []);
    assert.deepEqual(await test.sent(), []);
  }

  it("is at least 50 payloads", () => {
    assert.ok(new Set(PAYLOADS).size >= 50, String(PAYLOADS.length));
  });

  it("shows as text in every field of a pack, and nothing of it acts", async () => {
    await test.show(stateOf(poisonedPack(PAYLOADS)));
    const { page } = test;
    // Everything that can be folded out is.
    await pressAll(page, ".disclosure, .fold");
    await page.waitForFunction((count) => document.querySelectorAll(".why").length === count, PAYLOADS.length);
    await page.waitForFunction((count) => document.querySelectorAll(".outline").length === 2 * count, PAYLOADS.length);
    await pressAll(page, ".outline-fold");
    await assertHarmless();
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll(".card")].map((card) => ({
        text: card.querySelector(".text > .code")?.textContent ?? "",
        prose: card.querySelector(".text > .prose")?.textContent ?? null,
        notCited: [...card.querySelectorAll(".not-cited .code")].map((code) => code.textContent ?? ""),
        title: card.querySelector(".trail-last bdi")?.textContent ?? "",
        path: card.querySelector(".path")?.textContent ?? "",
        citation: card.querySelector(".why .citation-text bdi")?.textContent ?? "",
        reason: card.querySelector(".reason bdi")?.textContent ?? "",
        outline: [...card.querySelectorAll(".outline > bdi")].at(-1)?.textContent ?? "",
        parts: [...card.querySelectorAll(".outline li bdi")].map((part) => part.textContent ?? ""),
        found: card.querySelector(".why dd bdi")?.textContent ?? "",
      })),
    );
    // Chips have no brackets on the page.
    const naked = (text: string) => text.replaceAll(/[[\]\s]/g, "");
    for (const [index, payload] of PAYLOADS.entries()) {
      const card = shown[index];
      const expected = naked(namedLine(payload, 10_000));
      assert.ok(card !== undefined);
      if (card.prose === null) {
        assert.equal(naked(card.text), expected + expected, payload);
      }
      assert.deepEqual(card.notCited.map(naked), [expected, expected], payload);
      for (const field of ["title", "citation", "reason"] as const) {
        assert.equal(naked(card[field]), expected, `${field}: ${payload}`);
      }
      assert.ok(naked(card.path).startsWith(expected), payload);
      assert.equal(naked(card.outline), naked(`Also in ${namedLine(payload, 120)}:`), payload);
      assert.deepEqual(card.parts.map(naked), Array(18).fill(naked(namedLine(payload, 300))), payload);
      assert.ok(naked(card.found).includes(expected.slice(0, 40)), payload);
    }
    const warnings = await page.locator(".banners li").allTextContents();
    assert.deepEqual(
      warnings.map(naked),
      PAYLOADS.map((payload) => naked(namedLine(payload, 10_000))),
    );
  });

  it("is words in the docs, of which a link over https alone can be followed", async () => {
    const { page } = test;
    const candidates = PAYLOADS.map((payload, index) =>
      docsCandidate({
        rank: index + 1,
        candidate_id: `prose-${index}`,
        text: `Before.\n\n${payload}\n\n* ${payload}\n\n| ${payload.replaceAll("|", "")} |\n|---|\n\n> ${payload}\n\n=== "${payload.replaceAll('"', "")}"\n\n    In it.\n\nAfter.`,
      }),
    );
    await test.show(stateOf(packOf(candidates)));
    await pressAll(page, ".fold");
    await page.waitForFunction((count) => document.querySelectorAll(".prose").length === count, PAYLOADS.length);
    await assertHarmless();
    const links = await page
      .locator(".prose a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    assert.ok(links.length > 0 && links.every((href) => href.startsWith("https://")), links.join(" "));
    const texts = await page.locator(".prose").allTextContents();
    for (const [index, text] of texts.entries()) {
      assert.ok(text.startsWith("Before.") && text.endsWith("After."), `${PAYLOADS[index]}: ${text}`);
    }
    // What acts as HTML does is there to be read.
    const whole = texts.join(" ");
    for (const part of ["<script>", "onerror=", "<iframe", "javascript:", "<style>", "command:workbench"]) {
      assert.ok(whole.includes(part), part);
    }
  });

  it("is shown at once where its marks stand in each other, thousands deep", async () => {
    const deep = [
      "- ".repeat(10_000),
      "> ".repeat(10_000),
      Array.from({ length: 200 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n"),
      `${"|a".repeat(30)}|\n${"|-".repeat(30)}|\n${"|b\n".repeat(2000)}`,
      `${"|a".repeat(2000)}|\n${"|-".repeat(2000)}|\n${"|b\n".repeat(200)}`,
      "[".repeat(20_000),
      "*_".repeat(10_000),
    ];
    const start = Date.now();
    await test.show(
      stateOf(
        packOf(deep.map((text, index) => docsCandidate({ rank: index + 1, candidate_id: `deep-${index}`, text }))),
      ),
    );
    await pressAll(test.page, ".fold");
    await test.page.keyboard.press("j");
    await test.page.waitForFunction(() => document.activeElement?.id === "card-1");
    assert.ok(Date.now() - start < 15_000, `${Date.now() - start} ms`);
    const wide = await test.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    const nodes = await test.page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 100_000, `${nodes} elements`);
    await assertHarmless();
  });

  it("shows as text in the question, errors and announcements", async () => {
    for (const payload of PAYLOADS) {
      const question = { ...QUESTION, query: payload, path: payload };
      const item = { ...question, id: payload, results: 1, askedAt: payload };
      await test.show(
        stateOf(null, {
          phase: "error",
          question,
          error: { message: payload, actions: [{ title: payload, id: payload }] },
          history: [item],
        }),
      );
      await test.send({ type: "say", text: payload });
    }
    await test.page.waitForFunction(() => document.querySelector(".said p") !== null);
    await assertHarmless();
    await test.show(stateOf(null, { phase: "loading", question: { ...QUESTION, query: PAYLOADS.join(" ") } }));
    await assertHarmless();
  });

  it("names control characters instead of obeying them", async () => {
    const hidden = ["\u202e", "\u001b", "\u0000", "\u200b"];
    const text = "a\u202eb \u001b[31mred\u0000 c\u200bd";
    await test.show(stateOf(packOf([docsCandidate({ text, headings: [text], language: "txt" })])));
    const labels = await test.page.locator(".code .control").allTextContents();
    assert.deepEqual(labels, ["U+202E", "ESC", "NUL", "U+200B"]);
    const raw = await test.page.evaluate(() => document.body.textContent ?? "");
    assert.ok(!hidden.some((character) => raw.includes(character)));
    const attributes = await test.page.evaluate(() =>
      [...document.querySelectorAll("*")].flatMap((element) =>
        element.getAttributeNames().map((name) => element.getAttribute(name) ?? ""),
      ),
    );
    assert.ok(!attributes.some((value) => hidden.some((character) => value.includes(character))));
  });

  it("stays inside its card and answers keys, however long its lines are", async () => {
    const pack = packOf(
      GIANTS.map((text, index) =>
        docsCandidate({ rank: index + 1, candidate_id: `giant-${index}`, text, headings: [text], citation: text }),
      ),
    );
    const outlines = GIANTS.map((text, index) =>
      outlineOf({ title: text, path: text, ranks: [index + 1], parts: [{ name: text, lines: { start: 1, end: 9 } }] }),
    );
    await test.show(
      stateOf({ ...pack, warnings: GIANTS.map((text) => ({ code: "coverage" as const, text })), outlines }),
    );
    const { page } = test;
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    await pressAll(page, ".fold");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.id === "card-1");
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 50_000, `${nodes} elements`);
    await assertHarmless();
  });

  it("takes no message that is not the host's", async () => {
    await test.show(stateOf(packOf([docsCandidate()])));
    const wrong = [
      { type: "state", state: { phase: "ready" } },
      { type: "state", state: { ...stateOf(null), phase: "<b>" } },
      { type: "run", script: "x" },
      JSON.parse('{"type":"say","__proto__":{"text":"inherited"}}'),
      null,
      "say",
    ];
    await test.page.evaluate((messages) => {
      for (const message of messages) {
        window.postMessage(message, "*");
      }
    }, wrong);
    await test.send({ type: "say", text: "the host" });
    await test.page.waitForSelector(".said p");
    assert.equal(await test.page.locator(".said").textContent(), "the host");
    assert.equal(await test.page.locator(".card").count(), 1);
    await assertHarmless();
  });

  it("cannot be made markup or code by a script of the page's either", async () => {
    const refused = await test.page.evaluate(() => {
      const attempt = (run: () => void): boolean => {
        try {
          run();
          return false;
        } catch {
          return true;
        }
      };
      return {
        html: attempt(() => {
          document.body.innerHTML = "<p>x</p>";
        }),
        policy: attempt(() => {
          Reflect.get(window, "trustedTypes").createPolicy("x", {});
        }),
      };
    });
    assert.deepEqual(refused, { html: true, policy: true });
  });
});
