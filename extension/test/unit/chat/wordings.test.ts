import assert from "node:assert/strict";
import { mock } from "node:test";
import { describe, it } from "mocha";
import { CancellationError, CancellationTokenSource, type LanguageModelChat, LanguageModelError } from "vscode";
import { Rewording, wordingsIn } from "../../../src/chat/wordings";

const QUESTION = "how do I stop it?";

/** A model that answers with a text, fails, or never ends. */
function modelThat(does: string | Error | "never"): LanguageModelChat & { asked: number } {
  const model = {
    id: "m",
    asked: 0,
    async sendRequest() {
      model.asked += 1;
      if (does instanceof Error) {
        throw does;
      }
      return does === "never" ? new Promise(() => undefined) : { text: pieces(does) };
    },
  };
  return model as unknown as LanguageModelChat & { asked: number };
}

async function* pieces(text: string) {
  yield* text.match(/.{1,3}/gs) ?? [];
}

function rewording() {
  const logged: string[] = [];
  return { logged, of: new Rewording({ warn: (line: string) => logged.push(line) }) };
}

describe("the wordings in a model's answer", () => {
  it("are its lines, without marks of a list, repetition and the question itself", () => {
    const answer = `Here they are:\n\`\`\`text\n- \`Runner\` cancellation\n\n2) aclose of run_async\n* ${QUESTION}\nRunner cancellation\n`;
    assert.deepEqual(wordingsIn(answer, QUESTION), ["Runner cancellation", "aclose of run_async"]);
    assert.equal(wordingsIn("a b\nc d\ne f\ng h", QUESTION).length, 3);
  });

  it("are none where it is no list of short lines", () => {
    for (const answer of ["", " \n", `Sure! ${"You can stop it. ".repeat(9)}`, "x\n".repeat(2000)]) {
      assert.deepEqual(wordingsIn(answer, QUESTION), []);
    }
  });

  it("hold no hidden characters", () => {
    assert.deepEqual(wordingsIn("stop\u202e it", QUESTION), ["stop\ufffd it"]);
  });
});

describe("a model that words questions", () => {
  it("is not asked for names alone and tracebacks", async () => {
    const model = modelThat("a b");
    const { of } = rewording();
    for (const question of ["LlmAgent", "help:\nTraceback (most recent call last)\n  ..."]) {
      assert.deepEqual(await of.of(question, model, new CancellationTokenSource().token), []);
    }
    assert.equal(model.asked, 0);
    assert.deepEqual(await of.of(QUESTION, model, new CancellationTokenSource().token), ["a b"]);
  });

  it("may fail: the log then says so, without the question", async () => {
    const { of, logged } = rewording();
    for (const failure of [LanguageModelError.Blocked(QUESTION), new TypeError(QUESTION)]) {
      assert.deepEqual(await of.of(QUESTION, modelThat(failure), new CancellationTokenSource().token), []);
    }
    assert.deepEqual(logged, [
      "The model m has not worded the question: Blocked",
      "The model m has not worded the question: TypeError",
    ]);
  });

  it("ends with the question, also where it does not mind", async () => {
    const source = new CancellationTokenSource();
    const asked = rewording().of.of(QUESTION, modelThat("never"), source.token);
    source.cancel();
    await assert.rejects(asked, CancellationError);
  });

  it("is not waited for longer than six seconds, and not asked again then", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const { of, logged } = rewording();
      const model = modelThat("never");
      const asked = of.of(QUESTION, model, new CancellationTokenSource().token);
      mock.timers.tick(6000);
      assert.deepEqual(await asked, []);
      assert.deepEqual(await of.of(QUESTION, model, new CancellationTokenSource().token), []);
      assert.equal(model.asked, 1);
      assert.match(logged[0] ?? "", /took too long/);
    } finally {
      mock.timers.reset();
    }
  });
});
