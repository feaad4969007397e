import type { Memento } from "vscode";

const KEY = "adkEvidence.recentQuestions";
const KEPT = 20;

/** The questions that were asked last in this workspace, the latest first. */
export class RecentQuestions {
  constructor(private readonly memento: Memento) {}

  get all(): readonly string[] {
    const kept = this.memento.get<unknown>(KEY);
    return Array.isArray(kept) ? kept.filter((item): item is string => typeof item === "string") : [];
  }

  async add(question: string): Promise<void> {
    await this.memento.update(KEY, [question, ...this.all.filter((item) => item !== question)].slice(0, KEPT));
  }
}
