const EVERY_MS = 100;
const LIMIT_MS = 30_000;

/**
 * Wait for a condition that nothing announces.
 *
 * @param what For the message of the failure: "the editor is ready".
 * @throws Error when it does not hold after `limit` milliseconds; what `condition` throws.
 */
export async function until(what: string, limit: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(`waited ${limit / 1000} s in vain until ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

/**
 * Repeat a check until it holds: what an action leads to is seen some time after it.
 *
 * @throws What the check threw last, when it does not hold after `limit` milliseconds.
 */
export async function eventually(check: () => Promise<void>, limit = LIMIT_MS): Promise<void> {
  let failure: unknown;
  const holds = () =>
    check().then(
      () => true,
      (error: unknown) => {
        failure = error;
        return false;
      },
    );
  await until("a check holds", limit, holds).catch(() => {
    throw failure;
  });
}
