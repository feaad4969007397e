/** Runs tasks one after the other; equal wishes that have not begun yet are one. */
export class Lane {
  readonly #waiting = new Map<string, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param key What is wished for. A task of the same key that waits is joined, one that runs is not: what it looked
   *   at may have changed since.
   */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(key);
    // Tasks of one key are of one type.
    if (waiting) return waiting as Promise<T>;
    const begun = this.#last.then(() => {
      this.#waiting.delete(key);
      return task();
    });
    this.#waiting.set(key, begun);
    this.#last = begun.catch(() => undefined);
    return begun;
  }

  /** Whether a task waits that has not begun. */
  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }
}
