/**
 * The documents that the server has open. Not only Python: users select questions in any text, and any file may hold an
 * error message.
 */
export const SYNCHRONIZED: ({ language: string } | { scheme: string })[] = [
  { language: "python" },
  { scheme: "file" },
  { scheme: "untitled" },
];
