import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Lane } from "../../../src/server/lane";

describe("a lane", () => {
  it("runs one task after the other, also where one fails", async () => {
    const lane = new Lane();
    const seen: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        seen.push(`${name} begins`);
        await Promise.resolve();
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
      };
    const first = lane.run("a", task("a", true));
    const second = lane.run("b", task("b"));
    await assert.rejects(first, /a/);
    await second;
    assert.deepEqual(seen, ["a begins", "a ends", "b begins", "b ends"]);
  });

  it("runs tracks side by side, and a task without one alone", async () => {
    const lane = new Lane();
    const seen: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const say = (what: string) => async () => {
      seen.push(what);
    };
    const slow = lane.run("a", () => held.then(say("a")), "one");
    await lane.run("b", say("b"), "two");
    const alone = lane.run("alone", say("alone"));
    const late = lane.run("c", say("c"), "two");
    release();
    await Promise.all([slow, alone, late]);
    assert.deepEqual(seen, ["b", "a", "alone", "c"]);
  });

  it("makes one of equal wishes that wait, but none of one that runs already", async () => {
    const lane = new Lane();
    let runs = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const restart = async () => {
      runs += 1;
      await held;
    };
    const first = lane.run("restart", restart);
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(runs, 1);
    const others = [1, 2, 3, 4].map(() => lane.run("restart", restart));
    assert.ok(lane.isWaiting("restart"));
    release();
    await Promise.all([first, ...others]);
    assert.equal(runs, 2);
    assert.ok(!lane.isWaiting("restart"));
  });
});
