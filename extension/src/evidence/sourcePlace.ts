/** A file of an indexed repository at its commit, and the path of the read-only document that shows it. */
export interface SourcePlace {
  /** `owner/name`. */
  repo: string;
  commit: string;
  path: string;
}

const PATH = /^\/([^@]+)@([^/]+)\/(.+)$/s;

/** The path of the document: `/owner/name@commit/path/of/the/file`. */
export function toDocumentPath({ repo, commit, path }: SourcePlace): string {
  const owner = repo.split("/").map(encodeURIComponent).join("/");
  return `/${owner}@${encodeURIComponent(commit)}/${path}`;
}

/** The place that a document's path stands for; null for a path of another form. */
export function fromDocumentPath(documentPath: string): SourcePlace | null {
  const [, repo, commit, path] = PATH.exec(documentPath) ?? [];
  if (repo === undefined || commit === undefined || path === undefined) {
    return null;
  }
  try {
    return { repo: decodeURIComponent(repo), commit: decodeURIComponent(commit), path };
  } catch {
    return null;
  }
}
