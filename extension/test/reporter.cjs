const { Spec } = require("mocha").reporters;

/** Mocha's own report, which would say nothing of a test that failed and is tried again. */
module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.on("retry", (test, error) => {
      console.log(`    FAILED, and is tried again: ${test.fullTitle()}\n${error.stack ?? error}`);
    });
  }
};
