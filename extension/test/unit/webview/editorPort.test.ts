import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { connect } from "../../../src/webview/app/editorPort";
import { verificationLabel } from "../../../src/webview/app/labels";
import { initial, type Model, reduce } from "../../../src/webview/app/model";
import { stateOf, variedPack } from "../../webview/packs";

const { pack, ...STATE } = stateOf(variedPack());
const UNREADABLE = { type: "state", state: { ...STATE, pack: { ...pack, candidates: "none" } } };

describe("the page's line to the extension", () => {
  let send: (data: unknown) => void;
  let model: Model;

  beforeEach(() => {
    const api = { postMessage() {}, getState: () => undefined, setState() {} };
    const window = {
      addEventListener: (_type: string, listener: (event: { data: unknown }) => void) => {
        send = (data) => listener({ data });
      },
    };
    Object.assign(globalThis, { acquireVsCodeApi: () => api, window });
    model = initial(null);
    connect().listen((message) => {
      model = reduce(model, { type: "message", message });
    });
  });
  afterEach(() => {
    Reflect.deleteProperty(globalThis, "acquireVsCodeApi");
    Reflect.deleteProperty(globalThis, "window");
  });

  it("leaves what it shows as it is for what it cannot read, or is no message of the host's", () => {
    send({ type: "state", state: stateOf(variedPack()) });
    const shown = model;
    for (const data of [UNREADABLE, null, "state", { type: "other" }, { type: "say", text: 1 }]) {
      send(data);
    }
    assert.equal(model, shown);
  });
});

describe("the words for a state that is new", () => {
  it("say that it is unknown", () => {
    const verification = { state: "withdrawn" as "gone", lines: null, path: null, reason: "" };
    assert.equal(verificationLabel(verification), "Unknown");
  });
});

describe("the words for a text that is elsewhere by now", () => {
  it("name its lines, and its file if that is another one", () => {
    const lines = { start: 3, end: 9 };
    const label = (path: string | null) => verificationLabel({ state: "moved", lines, path, reason: "" });
    assert.equal(label(null), "Moved, now lines 3–9");
    assert.equal(label("src/new.py"), "Moved, now in src/new.py, lines 3–9");
  });
});
