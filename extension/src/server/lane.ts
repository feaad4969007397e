/**
 * Runs tasks one after the other on each track, and tracks side by side; equal wishes that have not begun yet are one.
 * A task without a track runs alone: it waits for all that came before, and all that comes later waits for it.
 */
export class Lane {
  readonly #waiting = new Map<string, Promise<unknown>>();
  /** The last task of each track since the last one that ran alone. */
  readonly #tracks = new Map<string, Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  /**
   * @param key What is wished for. A task of the same key that waits is joined, one that runs is not: what it looked
   *   at may have changed since.
   */
  run<T>(key: string, task: () => Promise<T>, track?: string): Promise<T> {
    const waiting = this.#waiting.get(key);
    // Tasks of one key are of one type.
    if (waiting) return waiting as Promise<T>;
    const before =
      track === undefined ? [this.#alone, ...this.#tracks.values()] : [this.#tracks.get(track) ?? this.#alone];
    const begun = Promise.all(before).then(() => {
      this.#waiting.delete(key);
      return task();
    });
    this.#waiting.set(key, begun);
    const ended = begun.catch(() => undefined);
    if (track === undefined) {
      this.#alone = ended;
      this.#tracks.clear();
    } else {
      this.#tracks.set(track, ended);
    }
    return begun;
  }

  /** Whether a task waits that has not begun. */
  isWaiting(key: string): boolean {
    return this.#waiting.has(key);
  }
}
