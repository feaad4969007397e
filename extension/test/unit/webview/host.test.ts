import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { connect } from "../../../src/webview/app/host";
import { verificationLabel } from "../../../src/webview/app/labels";
import type { ToPage } from "../../../src/webview/messages";
import { stateOf, variedPack } from "../../webview/packs";

describe("the page's line to the extension", () => {
  let send: (data: unknown) => void;
  let received: ToPage[];

  beforeEach(() => {
    const api = { postMessage() {}, getState: () => undefined, setState() {} };
    const window = {
      addEventListener: (_type: string, listener: (event: { data: unknown }) => void) => {
        send = (data) => listener({ data });
      },
    };
    Object.assign(globalThis, { acquireVsCodeApi: () => api, window });
    received = [];
    connect().listen((message) => received.push(message));
  });
  afterEach(() => {
    Reflect.deleteProperty(globalThis, "acquireVsCodeApi");
    Reflect.deleteProperty(globalThis, "window");
  });

  it("shows a sentence and a way on for a state that cannot be read, and does not wait for ever", () => {
    const { pack, ...state } = stateOf(variedPack());
    send({ type: "state", state: { ...state, pack: { ...pack, candidates: "none" } } });
    const [message] = received;
    assert.ok(message?.type === "state" && message.state.phase === "error");
    assert.match(message.state.error?.message ?? "", /cannot show/);
    assert.deepEqual(
      message.state.error?.actions.map(({ id }) => id),
      ["retry"],
    );
  });

  it("drops what is no message of the host's", () => {
    for (const data of [null, "state", { type: "other" }, { type: "say", text: 1 }]) send(data);
    assert.deepEqual(received, []);
  });
});

describe("the words for a state that is new", () => {
  it("say that it is unknown", () => {
    assert.equal(verificationLabel({ state: "withdrawn" as "gone", lines: null, reason: "" }), "Unknown");
  });
});
