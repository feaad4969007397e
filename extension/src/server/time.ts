/** Limits of time. */

import { type CancellationToken, CancellationTokenSource } from "vscode";
import { PROBLEMS } from "./problems";

/** The outcome of some work. @throws What `late` makes, where the work takes longer than `limitMs`. */
export async function withinTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    // A timer takes no infinite time.
    timer = Number.isFinite(limitMs) ? setTimeout(() => reject(late()), limitMs) : undefined;
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The outcome of some work that can be cancelled. Nobody waits until cancelled work has ended.
 *
 * @param work Gets a token that is cancelled with `token`, and when the time is over.
 * @throws Problem `cancelled`, or `no_answer` after `limitMs`.
 */
export async function cancellable<T>(
  work: (token: CancellationToken) => Promise<T>,
  token: CancellationToken | undefined,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  if (token?.isCancellationRequested) {
    throw PROBLEMS.cancelled();
  }
  const source = new CancellationTokenSource();
  let listener: { dispose(): unknown } | undefined;
  const cancelled = new Promise<never>((_resolve, reject) => {
    listener = token?.onCancellationRequested(() => {
      source.cancel();
      reject(PROBLEMS.cancelled());
    });
  });
  try {
    return await withinTime(Promise.race([work(source.token), cancelled]), limitMs, () => {
      source.cancel();
      return PROBLEMS.noAnswer(limitMs / 1000);
    });
  } finally {
    listener?.dispose();
    source.dispose();
  }
}
