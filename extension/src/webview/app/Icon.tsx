/** Line icons of 16 pixels, drawn for this page; each stands beside words or a label. */

const PATHS = {
  search: "M11.2 11.2 14.5 14.5M12.5 7a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0Z",
  docs: "M3.5 2.5h6l3 3v8h-9v-11ZM9.5 2.5v3h3M5.5 8h5M5.5 10.5h5",
  code: "M5.5 4 1.5 8l4 4M10.5 4l4 4-4 4",
  api: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5L8 1.8ZM2.7 5.1 8 8.2l5.3-3.1M8 8.2v5.8",
  exact: "M2.5 8.5 6 12l7.5-8",
  moved: "M2.5 8h11M9.5 4l4 4-4 4",
  same_tree: "M2.5 8h11M9.5 4l4 4-4 4",
  changed: "M2.5 6h11M2.5 10h11M10.5 3l-5 10",
  gone: "M4 4l8 8M12 4l-8 8",
  unverified: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.9-1.1 1.7M8 12.4v.1",
  warning: "M8 2 14.5 13.5h-13L8 2ZM8 6.5v3.5M8 11.8v.1",
  info: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM8 7.5v3.7M8 4.8v.1",
  error: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM8 4.8v4M8 11v.1",
  copy: "M5.5 5.5h8v8h-8v-8ZM3.5 10.5h-1v-8h8v1",
  open: "M6.5 3.5h-4v10h10v-4M9 2.5h4.5V7M13.2 2.8 7.5 8.5",
  file: "M3.5 1.5h6l3 3v10h-9v-13ZM9.5 1.5v3h3",
  chevron: "M4 6l4 4 4-4",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  ask: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4.5 4.5h7v7h-7v-7Z",
  why: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.9-1.1 1.7M8 12.4v.1M15 8A7 7 0 1 1 1 8a7 7 0 0 1 14 0Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name] ?? PATHS.unverified} />
    </svg>
  );
}
