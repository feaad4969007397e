/** A bar for a part of a whole; the number beside it says the same. */
export function ScoreBar({ part }: { part: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span class="bar-fill" style={{ inlineSize: `${(part * 100).toFixed(1)}%` }} />
    </span>
  );
}
