/**
 * The page's keys. They work while no text field has the focus. Keys with a modifier are the editor's, but for the one
 * that finds something everywhere else.
 */

export type Command =
  | "next"
  | "previous"
  | "first"
  | "last"
  | "open"
  | "copy"
  | "expand"
  | "explain"
  | "query"
  | "leave";

const ANYWHERE: Record<string, Command> = { j: "next", k: "previous", "/": "query", Escape: "leave" };
const ON_CARD: Record<string, Command> = { c: "copy", e: "expand", w: "explain" };
const ON_CARD_ITSELF: Record<string, Command> = {
  ArrowDown: "next",
  ArrowUp: "previous",
  Home: "first",
  End: "last",
  Enter: "open",
};

/** The keys that matter of a keyboard event, and where it happened. */
export interface Key {
  key: string;
  /** Ctrl, Alt or Meta is down. */
  modified: boolean;
  /** Ctrl or Meta alone is down, with the key F. */
  finds?: boolean;
  /** `field`: takes text or arrows itself. `card`: the card has the focus, `inside`: one of its controls. */
  place: "field" | "card" | "inside" | "page";
}

/** What a key means there, if anything. */
export function commandOf({ key, modified, finds, place }: Key): Command | null {
  if (finds) {
    return "query";
  }
  if (modified) {
    return null;
  }
  if (place === "field") {
    return key === "Escape" ? "leave" : null;
  }
  const tables = [ANYWHERE, ...(place === "page" ? [] : [ON_CARD]), ...(place === "card" ? [ON_CARD_ITSELF] : [])];
  return tables.find((table) => Object.hasOwn(table, key))?.[key] ?? null;
}

/** Reads a browser's event. */
export function keyOf(event: KeyboardEvent): Key {
  const target = event.target instanceof Element ? event.target : null;
  return {
    key: event.key,
    modified: event.ctrlKey || event.altKey || event.metaKey,
    finds: event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "f",
    place: placeOf(target),
  };
}

function placeOf(target: Element | null): Key["place"] {
  if (target?.closest("input, textarea, select, [role=menu]")) {
    return "field";
  }
  const card = target?.closest(".card");
  if (!card) {
    return "page";
  }
  return card === target ? "card" : "inside";
}
