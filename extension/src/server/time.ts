/** Limits of time. */

/** The outcome of some work. @throws What `late` makes, where the work takes longer than `limitMs`. */
export async function withinTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  if (!Number.isFinite(limitMs)) return work;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
