/**
 * The documents that the server has open. Not Python alone: a question may be selected in any text, and errors may be
 * in any file.
 */
export const SYNCHRONIZED: ({ language: string } | { scheme: string })[] = [
  { language: "python" },
  { scheme: "file" },
  { scheme: "untitled" },
];
