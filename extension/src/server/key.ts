/** The key of Voyage AI: in the editor's secret storage, and in the environment of the servers, nowhere else. */

import type { Disposable, SecretStorage } from "vscode";

const SECRET = "adkEvidence.voyageApiKey";
const VARIABLE = "VOYAGE_API_KEY";

export class VoyageKey {
  constructor(private readonly secrets: SecretStorage) {}

  async isSet(): Promise<boolean> {
    return Boolean(await this.secrets.get(SECRET));
  }

  /** Whether servers will have a key, this one or the user's variable. */
  async isGiven(): Promise<boolean> {
    return Boolean(process.env[VARIABLE]) || this.isSet();
  }

  async set(key: string): Promise<void> {
    await this.secrets.store(SECRET, key);
  }

  async remove(): Promise<void> {
    await this.secrets.delete(SECRET);
  }

  /** What is added to a server's environment; a variable that the user has set stays where there is no key. */
  async environment(): Promise<Record<string, string>> {
    const key = await this.secrets.get(SECRET);
    return key ? { [VARIABLE]: key } : {};
  }

  /** Calls back when the key was set or removed, also by another window. */
  onDidChange(listener: () => void): Disposable {
    return this.secrets.onDidChange((event) => {
      if (event.key === SECRET) {
        listener();
      }
    });
  }
}

/** Whether a text can be a key: one word of at least 20 letters, digits, `-` and `_`. */
export function looksLikeKey(text: string): boolean {
  return /^[A-Za-z0-9_-]{20,}$/.test(text.trim());
}
