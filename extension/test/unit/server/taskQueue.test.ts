import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { TaskQueue } from "../../../src/server/taskQueue";

describe("a taskQueue", () => {
  it("runs one task after the other, also where one fails", async () => {
    const queue = new TaskQueue();
    const seen: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        seen.push(`${name} begins`);
        await Promise.resolve();
        seen.push(`${name} ends`);
        if (fails) {
          throw new Error(name);
        }
      };
    const first = queue.run("a", task("a", true));
    const second = queue.run("b", task("b"));
    await assert.rejects(first, /a/);
    await second;
    assert.deepEqual(seen, ["a begins", "a ends", "b begins", "b ends"]);
  });

  it("runs tracks side by side, and a task without one alone", async () => {
    const queue = new TaskQueue();
    const seen: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const say = (what: string) => async () => {
      seen.push(what);
    };
    const slow = queue.run("a", () => held.then(say("a")), "one");
    await queue.run("b", say("b"), "two");
    const alone = queue.run("alone", say("alone"));
    const late = queue.run("c", say("c"), "two");
    release();
    await Promise.all([slow, alone, late]);
    assert.deepEqual(seen, ["b", "a", "alone", "c"]);
  });

  it("makes one of equal tasks that wait, but none of one that runs already", async () => {
    const queue = new TaskQueue();
    let runs = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const restart = async () => {
      runs += 1;
      await held;
    };
    const first = queue.run("restart", restart);
    await Promise.resolve();
    await Promise.resolve();
    assert.equal(runs, 1);
    const others = [1, 2, 3, 4].map(() => queue.run("restart", restart));
    assert.ok(queue.isWaiting("restart"));
    release();
    await Promise.all([first, ...others]);
    assert.equal(runs, 2);
    assert.ok(!queue.isWaiting("restart"));
  });
});
