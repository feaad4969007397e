import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { EnvironmentState } from "../../../src/server/environment";
import type { Probed } from "../../../src/server/python";
import { type Interpreters, type LaunchRequest, type Resolution, resolve } from "../../../src/server/resolve";

const NOTHING: LaunchRequest = {
  command: [],
  interpreter: { text: "", path: undefined },
  trusted: true,
  version: "1.2.3",
};
const READY: EnvironmentState = {
  kind: "ready",
  python: "/private/python",
  version: "1.2.0",
  current: true,
  base: "/base",
};

interface World {
  pythons?: Record<string, Probed>;
  active?: string | undefined;
  environment?: EnvironmentState;
  checkout?: string;
}

function python(path: string, version: string | null): Probed {
  return { python: { path, version: "3.12.1", package: version, missing: [], makesEnvironments: true } };
}

/** The interpreter of the private environment. */
const PRIVATE = { "/private/python": python("/private/python", "1.2.0") };

function around(world: World, asked: string[] = []): Interpreters {
  return {
    probe: async (path) => {
      asked.push(`probe ${path}`);
      return world.pythons?.[path] ?? { failure: "missing" };
    },
    activePython: async () => {
      asked.push("Python extension");
      return world.active;
    },
    privateEnvironment: async () => world.environment ?? { kind: "none" },
    checkoutPython: async () => world.checkout,
  };
}

function outcome(resolution: Resolution): string {
  return "launch" in resolution ? `${resolution.launch.origin} ${resolution.launch.command}` : resolution.problem.code;
}

describe("the choice of the program", () => {
  const everything: World = {
    pythons: { ...PRIVATE, "/mine": python("/mine", "1.2.9"), "/active": python("/active", "1.2.0") },
    active: "/active",
    environment: READY,
  };
  const mine = { text: "/mine", path: "/mine" };
  const table: [string, Partial<LaunchRequest>, World, string][] = [
    [
      "a command wins over all",
      { command: ["adk-evidence", "serve"], interpreter: mine },
      everything,
      "command adk-evidence",
    ],
    ["then the interpreter of the settings", { interpreter: mine }, everything, "interpreter /mine"],
    ["then the checkout in development", {}, { ...everything, checkout: "/repo/python" }, "checkout /repo/python"],
    ["then the Python extension's", {}, everything, "pythonExtension /active"],
    ["then the private environment", {}, { ...everything, active: undefined }, "privateEnvironment /private/python"],
    ["else it is to be set up", {}, {}, "no_environment"],
    [
      "not the Python extension's in Restricted Mode",
      { trusted: false },
      everything,
      "privateEnvironment /private/python",
    ],
    [
      "not an active one without the package",
      {},
      { ...everything, pythons: { ...PRIVATE, "/active": python("/active", null) } },
      "privateEnvironment /private/python",
    ],
    [
      "not an active one of another version",
      {},
      { ...everything, pythons: { ...PRIVATE, "/active": python("/active", "1.3.0") } },
      "privateEnvironment /private/python",
    ],
    [
      "not an active one that does not answer",
      {},
      { ...everything, pythons: { ...PRIVATE, "/active": { failure: "timed_out" } } },
      "privateEnvironment /private/python",
    ],
    [
      "not a private one of another version",
      {},
      { environment: { ...READY, version: "1.1.9" } },
      "environment_outdated",
    ],
    [
      "not a private one whose interpreter is gone",
      {},
      { environment: { kind: "broken", base: "/base" } },
      "environment_broken",
    ],
    ["not a private one whose interpreter does not run", {}, { environment: READY }, "environment_broken"],
    [
      "not a private one without the package",
      {},
      { environment: READY, pythons: { "/private/python": python("/private/python", null) } },
      "environment_broken",
    ],
    [
      "not a private one with another version than it was made with",
      {},
      { environment: READY, pythons: { "/private/python": python("/private/python", "1.2.1") } },
      "environment_broken",
    ],
    [
      "not a private one that lacks packages",
      {},
      {
        environment: READY,
        pythons: {
          "/private/python": {
            python: {
              path: "/private/python",
              version: "3.12.1",
              package: "1.2.0",
              missing: ["numpy"],
              makesEnvironments: true,
            },
          },
        },
      },
      "environment_broken",
    ],
    [
      "a private one that is merely slow",
      {},
      { environment: READY, pythons: { "/private/python": { failure: "timed_out" } } },
      "privateEnvironment /private/python",
    ],
    [
      "an interpreter that is gone is told",
      { interpreter: { text: "/gone", path: "/gone" } },
      everything,
      "bad_interpreter",
    ],
    [
      "one that means no path is told",
      { interpreter: { text: "here/python", path: undefined } },
      everything,
      "bad_interpreter",
    ],
    [
      "one without the package is told",
      { interpreter: mine },
      { ...everything, pythons: { "/mine": python("/mine", null) } },
      "package_missing",
    ],
    [
      "one of another version is told",
      { interpreter: mine },
      { ...everything, pythons: { "/mine": python("/mine", "2.2.3") } },
      "package_incompatible",
    ],
    [
      "one that is too old is told",
      { interpreter: mine },
      { ...everything, pythons: { "/mine": { failure: "too_old" } } },
      "bad_interpreter",
    ],
  ];
  for (const [what, request, world, expected] of table) {
    it(what, async () => {
      assert.equal(outcome(await resolve({ ...NOTHING, ...request }, around(world))), expected);
    });
  }

  it("starts nothing and asks nobody where a command is set", async () => {
    const asked: string[] = [];
    await resolve({ ...NOTHING, command: ["x"] }, around(everything, asked));
    assert.deepEqual(asked, []);
  });

  it("does not ask the Python extension in Restricted Mode", async () => {
    const asked: string[] = [];
    await resolve({ ...NOTHING, trusted: false }, around(everything, asked));
    assert.deepEqual(asked, ["probe /private/python"]);
  });

  it("gives equal programs equal keys, and others others", async () => {
    const key = async (request: Partial<LaunchRequest>) => {
      const found = await resolve({ ...NOTHING, ...request }, around(everything));
      assert.ok("launch" in found);
      return found.launch.key;
    };
    assert.equal(await key({ interpreter: mine }), await key({ interpreter: mine }));
    assert.notEqual(await key({ interpreter: mine }), await key({}));
    assert.notEqual(await key({ command: ["a", "b c"] }), await key({ command: ["a", "b", "c"] }));
  });

  it("looks at the private environment while the Python extension, which takes its time, is asked", async () => {
    const probed: string[] = [];
    const parts = around({ pythons: PRIVATE, environment: READY }, probed);
    const found = await resolve(NOTHING, {
      ...parts,
      activePython: () =>
        new Promise((resolved) => {
          setImmediate(() => {
            probed.push("it answers");
            resolved(undefined);
          });
        }),
    });
    assert.equal(outcome(found), "privateEnvironment /private/python");
    assert.deepEqual(probed.slice(0, 2), ["probe /private/python", "it answers"]);
  });

  it("tells what it looked at, in order", async () => {
    const found = await resolve(
      NOTHING,
      around({ active: "/active", pythons: { "/active": python("/active", null) } }),
    );
    assert.deepEqual(
      found.trail.map((step) => step.origin),
      ["command", "interpreter", "pythonExtension", "privateEnvironment"],
    );
    assert.equal(found.trail[2]?.found, "/active has no package adk-evidence.");
  });

  it("offers what mends each problem", async () => {
    const problems: [Partial<LaunchRequest>, World, string][] = [
      [{}, {}, "adkEvidence.getStarted"],
      [{}, { environment: { ...READY, version: "9.9.9" } }, "adkEvidence.setUpEnvironment"],
      [{}, { environment: READY }, "adkEvidence.setUpEnvironment"],
      [{ interpreter: { text: "/gone", path: "/gone" } }, {}, "workbench.action.openSettings"],
    ];
    for (const [request, world, command] of problems) {
      const found = await resolve({ ...NOTHING, ...request }, around(world));
      assert.ok("problem" in found);
      assert.equal(found.problem.fixes[0]?.command, command);
    }
  });
});
