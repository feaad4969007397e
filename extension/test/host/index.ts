/** What the editor calls to run the tests inside its extension host. */

import fs from "node:fs";
import path from "node:path";
import Mocha from "mocha";

/** How a test went, for the process that started the editor. */
export interface HostResult {
  title: string;
  milliseconds: number;
  /** Message and stack of the failure; null if it passed. */
  failure: string | null;
}

/** Where the results are written, beside this module's bundle. */
export const RESULTS = "results.json";

/** Run all tests; rejects if one fails, as the editor expects. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 60_000 });
  mocha.addFile(path.join(__dirname, "tests.js"));
  const results: HostResult[] = [];
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.on("pass", (test) => results.push(resultOf(test, null)));
    runner.on("fail", (test, error: Error) => results.push(resultOf(test, error.stack ?? String(error))));
  });
  fs.writeFileSync(path.join(__dirname, RESULTS), JSON.stringify(results));
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}

function resultOf(test: Mocha.Runnable, failure: string | null): HostResult {
  return { title: test.fullTitle(), milliseconds: test.duration ?? 0, failure };
}
