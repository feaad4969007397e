import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type ChatRequest, type Disposable, EventEmitter, type LanguageModelTextPart, lm } from "vscode";
import manifest from "../../../../package.json";
import { hasNoModel, registerEvidenceOnly } from "../../../src/chat/evidenceOnly";
import { chatModelChanges, chatModels, configured, modelProviders } from "../fake-vscode";

interface Provider {
  onDidChangeLanguageModelChatInformation(listener: () => void): Disposable;
  provideLanguageModelChatInformation(): { name: string; capabilities: object }[];
  provideLanguageModelChatResponse(...given: unknown[]): Promise<void>;
  provideTokenCount(model: unknown, text: unknown): Promise<number>;
}

const vendor = manifest.contributes.languageModelChatProviders[0]?.vendor ?? "";

const inAdk = { inUse: () => true, onDidFind: new EventEmitter<void>().event };

describe("the entry without a model", () => {
  let provider: Provider;
  let registered: Disposable;

  beforeEach(() => {
    chatModels.length = 0;
    registered = registerEvidenceOnly(inAdk);
    provider = modelProviders.get(vendor) as Provider;
  });
  afterEach(() => {
    registered.dispose();
    chatModels.length = 0;
    assert.equal(modelProviders.size, 0);
  });

  /** The names of the entries, once the provider has looked for models. */
  async function offered(): Promise<string[]> {
    provider.provideLanguageModelChatInformation();
    await new Promise(setImmediate);
    return provider.provideLanguageModelChatInformation().map(({ name }) => name);
  }

  it("is offered where there is no language model, and says that it is none", async () => {
    const [name = "", ...others] = await offered();
    assert.deepEqual(others, []);
    assert.match(name, /No Model/);
    const said: string[] = [];
    const progress = { report: (part: LanguageModelTextPart) => said.push(part.value) };
    await provider.provideLanguageModelChatResponse({}, [], {}, progress);
    assert.match(said.join(""), /not a language model.*@adk/);
    assert.equal(await provider.provideTokenCount({}, "12345678"), 2);
  });

  it("is not offered beside a language model", async () => {
    chatModels.push({ vendor: "other" });
    assert.deepEqual(await offered(), []);
  });

  it("is not offered where the user has turned the editor's chat off", async () => {
    configured.set("chat.disableAIFeatures", true);
    assert.deepEqual(await offered(), []);
    configured.clear();
  });

  it("is not offered where the editor cannot say which models there are, until it can", async () => {
    const { selectChatModels } = lm;
    lm.selectChatModels = () => Promise.reject(new Error("not ready"));
    try {
      assert.deepEqual(await offered(), []);
    } finally {
      lm.selectChatModels = selectChatModels;
    }
    chatModelChanges.fire();
    assert.equal((await offered()).length, 1);
  });

  it("waits for the ADK", async () => {
    registered.dispose();
    let inUse = false;
    const found = new EventEmitter<void>();
    registered = registerEvidenceOnly({ inUse: () => inUse, onDidFind: found.event });
    provider = modelProviders.get(vendor) as Provider;
    let told = 0;
    provider.onDidChangeLanguageModelChatInformation(() => told++);
    assert.deepEqual(await offered(), []);
    inUse = true;
    found.fire();
    assert.equal(told, 1);
    assert.equal((await offered()).length, 1);
  });

  it("comes and goes with the language models, and tells the editor so", async () => {
    let told = 0;
    provider.onDidChangeLanguageModelChatInformation(() => told++);
    assert.equal((await offered()).length, 1);
    assert.equal(told, 1);
    chatModels.push({ vendor: "other" });
    chatModelChanges.fire();
    assert.deepEqual(await offered(), []);
    assert.equal(told, 2);
    // The editor counts the entry itself among the models.
    chatModels.splice(0, 1, { vendor });
    chatModelChanges.fire();
    assert.equal((await offered()).length, 1);
  });

  it("is told from models", () => {
    const request = (model: object | undefined) => ({ model }) as unknown as ChatRequest;
    assert.ok(hasNoModel(request({ vendor })));
    assert.ok(hasNoModel(request(undefined)));
    assert.ok(!hasNoModel(request({ vendor: "other" })));
  });

  it("is nothing in an editor that has no place for it", () => {
    const given = lm as unknown as Record<string, unknown>;
    const { registerLanguageModelChatProvider } = given;
    given.registerLanguageModelChatProvider = undefined;
    try {
      const before = modelProviders.size;
      registerEvidenceOnly(inAdk).dispose();
      assert.equal(modelProviders.size, before);
    } finally {
      given.registerLanguageModelChatProvider = registerLanguageModelChatProvider;
    }
  });
});
