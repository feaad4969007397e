import * as vscode from "vscode";
import { asProblem } from "../commands/command";
import type { CitedLocations } from "../evidence/citedLocations";
import type { Evidence } from "../evidence/client";
import { TASK_MODE } from "../evidence/question";
import { isOfOther } from "../evidence/version";
import { COMMANDS, PARTICIPANT } from "../ids";
import { type Fix, Problem } from "../problem";
import { isTaskMode } from "../protocol/check";
import type { AnswerFacts, Candidate, CodeCheck, CodeProblem, EvidenceResult } from "../protocol/generated";
import { FIXES } from "../server/problems";
import { isStep } from "../server/showProblem";
import { clip, markdownLine, messageLine } from "../text/untrusted";
import type { TaskMode } from "../webview/messages";
import { AnswerWriter, type Citation, listCitations, type Written } from "./answer";
import { type Attached, readReferences, readSelection } from "./attachments";
import { contextsOf } from "./contexts";
import { hasNoModel } from "./evidenceOnly";
import { lastQuestion, messagesOf } from "./history";
import { assemble, type Message } from "./prompt";
import { refusalOf } from "./refusal";
import { continued, isFollowUp, searchText } from "./search";
import { alsoSearched, type Rewording } from "./wordings";

const MOST_LISTED = 12;
/** Without an answer of a model, the best results are shown with their texts. */
const QUOTED = 5;
const LONGEST_QUESTION = 1000;
/** Nobody mends more at once. */
const MOST_PROBLEMS = 10;
/** What is told of code that fits all the same. */
const NO_ERRORS: readonly CodeProblem["kind"][] = ["deprecated", "unread"];
/** Begins a block of code in Markdown. */
const FENCE = "```";

export interface TurnParts {
  evidence: Evidence;
  locations: CitedLocations;
  rewording: Pick<Rewording, "of">;
  log: vscode.LogOutputChannel;
}

/** What was found, and the question that it is about. */
interface Found {
  pack: EvidenceResult;
  question: string;
}

type Question = Pick<AnswerFacts, "query" | "taskMode">;

/** How an answer went. */
interface Outcome {
  written: Written;
  /** Why the model has not answered, or not to the end; null if it has. */
  refusal: string | null;
  /** What the model was given, or the best of what was found. */
  citations: ReadonlyMap<number, Citation>;
  /** The model's words. */
  answer: string;
}

const NOTHING_WRITTEN: Written = { some: false, cited: new Set() };

/** One request to the participant: finds evidence, has the user's model answer from it, links what the answer cites. */
export class Turn {
  constructor(
    private readonly parts: TurnParts,
    private readonly request: vscode.ChatRequest,
    private readonly history: vscode.ChatContext["history"],
    private readonly response: vscode.ChatResponseStream,
    private readonly token: vscode.CancellationToken,
  ) {}

  /** Answers. The response shows failures; this method never throws. */
  async run(): Promise<vscode.ChatResult> {
    try {
      return await this.answer();
    } catch (reason) {
      return this.token.isCancellationRequested ? {} : this.fail(reason);
    }
  }

  private async answer(): Promise<vscode.ChatResult> {
    const attached = await this.attached();
    const search = searchText(this.request.prompt, attached.selected);
    if (search === "") {
      this.say(vscode.l10n.t("Write a question about the ADK, or select the code that it is about."));
      return {};
    }
    const { command } = this.request;
    const taskMode = isTaskMode(command) ? command : TASK_MODE;
    this.response.progress(vscode.l10n.t("Searching the ADK docs and source…"));
    const { pack, question } = await this.find(search, taskMode, attached.scope);
    const facts = { packId: pack.pack_id, query: clip(question, LONGEST_QUESTION), taskMode };
    if (pack.quality.level === "none") {
      this.tellNothing(pack, facts);
      return resultOf({ ...facts, outcome: "nothing", citations: 0 });
    }
    this.response.progress(messageLine(pack.quality.note));
    this.tellOfVersion(pack);
    const { written, citations, refusal, answer } = await this.write(pack, taskMode, attached);
    await this.tellOfCode(answer, pack);
    if (written.some && refusal === null && written.cited.size > 0) {
      return resultOf({ ...facts, outcome: "answered", citations: written.cited.size });
    }
    this.say(`${refusal ?? vscode.l10n.t("The answer cites no evidence.")} ${vscode.l10n.t("This was found:")}`);
    listCitations(citations.values(), this.response, refusal === null ? 0 : QUOTED);
    this.showButton(vscode.l10n.t("Show the Evidence"), facts);
    return resultOf({ ...facts, outcome: refusal === null ? "answered" : "listed", citations: citations.size });
  }

  /** What is attached; without words and attachments, what is selected in the editor. */
  private async attached(): Promise<Attached> {
    const { prompt, references } = this.request;
    const attached = await readReferences(references);
    if (attached.unreadable.length > 0) {
      this.say(vscode.l10n.t("This could not be read and is left out: {0}.", attached.unreadable.join(", ")));
    }
    return prompt.trim() === "" && attached.attachments.length === 0 ? readSelection() : attached;
  }

  /** Searches; where the prompt says too little, for the question before it as well. */
  private async find(search: string, taskMode: TaskMode, scope: vscode.Uri | undefined): Promise<Found> {
    const prompt = this.request.prompt.trim();
    const find = (query: string, wordings: string[]) => {
      const worded = wordings.length > 0 ? { wordings } : {};
      return this.parts.evidence.find({ query, ...worded, taskMode }, this.token, scope);
    };
    const previous = lastQuestion(this.history, PARTICIPANT);
    if (previous !== null && isFollowUp(prompt)) {
      const query = continued(previous, search);
      return { pack: await find(query, await this.wordings(query)), question: previous };
    }
    const pack = await find(search, await this.wordings(search));
    if (previous === null || pack.quality.level !== "none") {
      return { pack, question: prompt || search };
    }
    return { pack: await find(continued(previous, search), []), question: previous };
  }

  /** What else to search for, in the words of the model; the response says it. */
  private async wordings(query: string): Promise<string[]> {
    if (hasNoModel(this.request) || this.request.prompt.trim() === "") {
      return [];
    }
    const wordings = await this.parts.rewording.of(query, this.request.model, this.token);
    if (wordings.length > 0) {
      this.response.markdown(`${alsoSearched(wordings)}\n\n`);
    }
    return wordings;
  }

  /** Has the model write the answer, or says why it does not. */
  private async write(pack: EvidenceResult, taskMode: TaskMode, attached: Attached): Promise<Outcome> {
    if (hasNoModel(this.request)) {
      return this.refused(
        vscode.l10n.t("No language model is chosen in the chat, so the evidence itself is the answer."),
        pack,
      );
    }
    let messages: Message[];
    let citations: ReadonlyMap<number, Citation>;
    try {
      ({ messages, citations } = await this.prepare(pack, taskMode, attached));
    } catch (reason) {
      return this.refused(this.refusal(reason), pack);
    }
    const writer = new AnswerWriter(citations, this.response);
    let answer = "";
    try {
      const response = await this.request.model.sendRequest(messages.map(toModel), {}, this.token);
      for await (const piece of response.text) {
        writer.write(piece);
        answer += piece;
      }
    } catch (reason) {
      return { written: writer.end(), refusal: this.refusal(reason), citations, answer };
    }
    const written = writer.end();
    return { written, refusal: written.some ? null : refusalOf(null, this.request.model.name), citations, answer };
  }

  /** The best of what was found, for want of a model's answer. */
  private async refused(refusal: string, pack: EvidenceResult): Promise<Outcome> {
    const best = pack.candidates.slice(0, MOST_LISTED).map((candidate, index) => [index + 1, candidate] as const);
    return { written: NOTHING_WRITTEN, refusal, citations: await this.cite(new Map(best), pack), answer: "" };
  }

  /** Says before an answer that its evidence is not of the project's google-adk. */
  private tellOfVersion({ adk, warnings }: EvidenceResult): void {
    if (adk != null && isOfOther({ adk, warnings })) {
      const facts = [adk.wanted, adk.taken_from, adk.indexed ?? vscode.l10n.t("another version")];
      this.say(
        vscode.l10n.t(
          "The project uses google-adk {0} (from {1}). That version is not indexed. This evidence is of {2}.",
          ...facts,
        ),
      );
    }
  }

  /** Says below an answer whether its code fits the google-adk of the project. A check that fails says nothing. */
  private async tellOfCode(answer: string, pack: EvidenceResult): Promise<void> {
    if (!answer.includes(FENCE)) {
      return;
    }
    let check: CodeCheck | null;
    try {
      check = await this.parts.evidence.checkCode(answer, pack, this.token);
    } catch (reason) {
      if (this.token.isCancellationRequested) {
        throw reason;
      }
      this.parts.log.warn(`The code of an answer was not checked: ${codeOf(reason)}`);
      return;
    }
    if (check === null || (check.problems.length === 0 && check.confirmed.length === 0)) {
      return;
    }
    const errors = check.problems.filter(({ kind }) => !NO_ERRORS.includes(kind));
    this.say(
      errors.length === 0
        ? vscode.l10n.t("The code fits google-adk {0} as far as can be told without running it.", check.version)
        : vscode.l10n.t("Not all of the code fits google-adk {0}:", check.version),
    );
    const others = check.problems.filter((problem) => !errors.includes(problem));
    const told = [...errors, ...others].map(({ text }) => `- ${markdownLine(text)}\n`);
    if (told.length > MOST_PROBLEMS) {
      told.splice(MOST_PROBLEMS, told.length, `- ${vscode.l10n.t("and {0} more", told.length - MOST_PROBLEMS)}\n`);
    }
    this.response.markdown(told.length === 0 ? "" : `${told.join("")}\n`);
  }

  /** The messages for the model, and what the marks in them stand for. */
  private async prepare(
    pack: EvidenceResult,
    taskMode: TaskMode,
    { attachments }: Attached,
  ): Promise<{ messages: Message[]; citations: ReadonlyMap<number, Citation> }> {
    const { model, prompt } = this.request;
    const { messages, evidence } = await assemble(
      {
        taskMode,
        prompt,
        attachments,
        history: messagesOf(this.history, PARTICIPANT),
        evidence: (maxTokens) => this.parts.evidence.render({ pack, format: "prompt", maxTokens }, this.token),
      },
      { maxInputTokens: model.maxInputTokens, countTokens: (text) => model.countTokens(text, this.token) },
    );
    const contexts = contextsOf(evidence, pack.candidates);
    if (contexts.size === 0) {
      throw new Problem("None of the evidence fits into the model's input.", "no_room");
    }
    return { messages, citations: await this.cite(contexts, pack) };
  }

  /** Where candidates can be read; the response lists these places as what was used. */
  private async cite(
    candidates: ReadonlyMap<number, Candidate>,
    pack: EvidenceResult,
  ): Promise<ReadonlyMap<number, Citation>> {
    const citations = await Promise.all(
      [...candidates].map(async ([number, candidate]): Promise<[number, Citation]> => {
        return [number, { candidate, location: await this.parts.locations.find(candidate, pack, this.token) }];
      }),
    );
    for (const [, { location }] of citations) {
      if (location !== null) {
        this.response.reference(location);
      }
    }
    return new Map(citations);
  }

  /**
   * Why no model has answered, in a sentence.
   *
   * @throws `reason` where the model did not cause it: a cancellation, or a failure of the server.
   */
  private refusal(reason: unknown): string {
    const room = reason instanceof Problem && ["no_room", "invalid_request"].includes(reason.code);
    if (this.token.isCancellationRequested || (reason instanceof Problem && !room)) {
      throw reason;
    }
    const { model } = this.request;
    this.parts.log.warn(`The model ${messageLine(model.id)} has not answered: ${codeOf(reason)}`);
    return refusalOf(reason, model.name);
  }

  private tellNothing({ candidates }: EvidenceResult, facts: Question): void {
    if (candidates.length === 0) {
      this.say(vscode.l10n.t("Nothing in the index answers this. Bring the index up to date, or ask in other words."));
      this.button(FIXES.ingest());
    } else {
      this.say(vscode.l10n.t("This question may not be about the ADK."));
      this.showButton(vscode.l10n.t("Show the Nearest"), facts);
    }
  }

  private fail(reason: unknown): vscode.ChatResult {
    const problem = asProblem(reason, this.parts.log);
    if (problem.code === "cancelled") {
      return {};
    }
    const message = messageLine(problem.message);
    const step = isStep(problem);
    if (step) {
      this.say(message);
    }
    problem.fixes.forEach(this.button);
    return { metadata: { problem: problem.code }, ...(step ? {} : { errorDetails: { message } }) };
  }

  private say(sentence: string): void {
    this.response.markdown(`\n\n${markdownLine(sentence)}\n\n`);
  }

  private showButton(title: string, { query, taskMode }: Question): void {
    this.button({ title, command: COMMANDS.findEvidence, arguments: [{ query, taskMode }] });
  }

  private readonly button = ({ title, command, arguments: rest = [] }: Fix): void => {
    this.response.button({ title, command, arguments: rest });
  };
}

function resultOf(facts: AnswerFacts): vscode.ChatResult {
  return { metadata: { ...facts } };
}

function toModel({ role, text }: Message): vscode.LanguageModelChatMessage {
  return role === "user" ? vscode.LanguageModelChatMessage.User(text) : vscode.LanguageModelChatMessage.Assistant(text);
}

/** What may be logged of a failure: messages may quote the request. */
function codeOf(reason: unknown): string {
  if (reason instanceof vscode.LanguageModelError || reason instanceof Problem) {
    return reason.code;
  }
  return reason instanceof Error ? reason.name : "";
}
