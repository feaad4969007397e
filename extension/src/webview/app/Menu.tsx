import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

interface Props {
  /** What the menu is for; the button itself is an icon. */
  label: string;
  icon: IconName;
  tab: number;
  items: MenuItem[];
}

export interface MenuItem {
  label: string;
  /** The key that does the same. */
  keys?: string;
  run(): void;
}

/** A button with a menu: arrows move, Enter chooses, Escape closes and gives the focus back. */
export function Menu({ label, icon, tab, items }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  // Before the next key can arrive.
  useLayoutEffect(() => {
    if (!open) {
      return;
    }
    menuItems(root.current)[0]?.focus();
    const leave = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const elements = menuItems(root.current);
    const { activeElement } = document;
    const at = activeElement instanceof HTMLElement ? elements.indexOf(activeElement) : -1;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: elements.length - 1 }[event.key];
    if (event.key === "Escape") {
      close();
    } else if (next !== undefined) {
      elements.at(next % elements.length)?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="quiet tool"
        tabIndex={tab}
        title={label}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
      </button>
      {open && (
        <div class="menu-list" role="menu" id={id} aria-label={label} onKeyDown={onKeyDown}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              aria-keyshortcuts={item.keys}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.label}
              {item.keys !== undefined && (
                <span class="menu-keys" aria-hidden="true">
                  {item.keys}
                </span>
              )}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function menuItems(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}
