/**
 * Runs tasks one after the other on each track, and tracks side by side. A task without a track runs alone: it waits
 * for all tasks before it, and all later tasks wait for it. A task that has not begun is not queued a second time.
 */
export class TaskQueue {
  private readonly waiting = new Map<string, Promise<unknown>>();
  /** The last task of each track since the last task that ran alone. */
  private readonly tracks = new Map<string, Promise<unknown>>();
  private alone: Promise<unknown> = Promise.resolve();

  /**
   * @param key Equal tasks have equal keys. A waiting task of the same key is joined; a running one is not, because
   *   what it looked at may have changed since.
   */
  run<T>(key: string, task: () => Promise<T>, track?: string): Promise<T> {
    const waiting = this.waiting.get(key);
    if (waiting) {
      // Tasks of one key are of one type.
      return waiting as Promise<T>;
    }
    const before = track === undefined ? [this.alone, ...this.tracks.values()] : [this.tracks.get(track) ?? this.alone];
    const begun = Promise.all(before).then(() => {
      this.waiting.delete(key);
      return task();
    });
    this.waiting.set(key, begun);
    const ended = begun.catch(() => undefined);
    if (track === undefined) {
      this.alone = ended;
      this.tracks.clear();
    } else {
      this.tracks.set(track, ended);
    }
    return begun;
  }

  /** Whether a task of this key is queued and has not begun. */
  isWaiting(key: string): boolean {
    return this.waiting.has(key);
  }
}
