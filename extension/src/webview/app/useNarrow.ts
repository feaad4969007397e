import { useEffect, useState } from "preact/hooks";

/** As in webview.css: the page is in a side bar as narrow as usual. */
const NARROW = "(width < 480px)";

/** Whether the page is too narrow for a line of code. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = () => setNarrow(query.matches);
    change();
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return narrow;
}
