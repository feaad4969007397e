const EVERY_MS = 100;

/**
 * Wait for a condition that nothing announces.
 *
 * @param what For the message of the failure: "the editor is ready".
 * @throws Error when it does not hold after `limit` milliseconds; what `condition` throws.
 */
export async function until(what: string, limit: number, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + limit;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
