import * as vscode from "vscode";
import { registerParticipant } from "../chat/participant";
import { registerEvidenceTool } from "../chat/tool";
import { askQuestion } from "../commands/ask";
import { registerCommand } from "../commands/command";
import { copyEvidence, copyShown } from "../commands/copy";
import { findEvidence, PANEL_KEY } from "../commands/find";
import { findSymbol } from "../commands/findSymbol";
import { ingestCorpora } from "../commands/ingest";
import { openFileOnDisk } from "../commands/openFileOnDisk";
import { RecentQuestions } from "../commands/recentQuestions";
import { showStatus } from "../commands/status";
import { COMMANDS, CONTEXT, PACK_VIEW } from "../ids";
import type { PanelActions } from "../webview/actions";
import { PackPanel } from "../webview/panel";
import type { Backend } from "./backend";
import { CitedPlaces } from "./citedPlaces";
import { Evidence } from "./client";
import { Highlight } from "./highlight";
import { Citations } from "./openCitation";
import { paramsOf } from "./question";
import { limitsOf, taskModeOf } from "./requestSettings";
import { scopeInUse } from "./scope";
import { SourceDocuments } from "./sourceDocuments";

/**
 * Registers everything that finds and shows evidence: the panel, its commands and the documents with cited sources.
 *
 * @param onDidRecover Calls back with the codes of problems when what was wrong is mended.
 * @returns What the exported API is made of.
 */
export function registerEvidence(
  context: vscode.ExtensionContext,
  backend: Backend,
  log: vscode.LogOutputChannel,
  onDidRecover: (listener: (codes: readonly string[]) => void) => vscode.Disposable,
): Evidence {
  const evidence = new Evidence(backend);
  const documents = new SourceDocuments(evidence);
  const highlight = new Highlight();
  const citations = new Citations(evidence, documents, highlight);
  const recent = new RecentQuestions(context.workspaceState);
  const panel = new PackPanel(context.extensionUri, panelActions(evidence, citations), taskModeOf(undefined));
  const register = (command: string, run: (argument: unknown) => Promise<void>) => registerCommand(command, run, log);
  context.subscriptions.push(
    panel,
    highlight,
    vscode.window.registerWebviewPanelSerializer(PACK_VIEW, panel),
    documents.register(),
    onDidRecover((codes) => void panel.retryAfter(codes)),
    panel.onDidChangePack((pack) => vscode.commands.executeCommand("setContext", CONTEXT.hasPack, pack !== null)),
    registerEvidenceTool(evidence),
    registerParticipant({ evidence, places: new CitedPlaces(evidence, documents), log }, context.extensionUri),
    register(COMMANDS.findEvidence, (argument) => findEvidence(argument, evidence, panel)),
    register(COMMANDS.askQuestion, () => askQuestion(panel, recent)),
    register(COMMANDS.findSymbol, (argument) => findSymbol(argument, evidence, citations)),
    register(COMMANDS.openFileOnDisk, () => openFileOnDisk(documents)),
    register(COMMANDS.ingest, () => ingestCorpora(evidence, log)),
    register(COMMANDS.showStatus, () => showStatus(evidence)),
    register(COMMANDS.copyMarkdown, () => copyShown("markdown", panel.pack, evidence)),
    register(COMMANDS.copyJson, () => copyShown("json", panel.pack, evidence)),
    register(COMMANDS.copyPrompt, () => copyShown("prompt", panel.pack, evidence)),
  );
  return evidence;
}

function panelActions(evidence: Evidence, citations: Citations): PanelActions {
  return {
    ask(question, token) {
      const scope = scopeInUse();
      return evidence.find({ ...paramsOf(question), ...limitsOf(scope), supersedeKey: PANEL_KEY }, token, scope);
    },
    open: (candidate, pack, where) => citations.open(candidate, pack, where),
    copy: (format, pack, candidate) => copyEvidence(format, pack, candidate, evidence),
    scopeOf: (pack) => evidence.scopeOf(pack)?.toString() ?? null,
    takeUp: (pack, scope) => evidence.takeUp(pack, scope),
    async act({ command, arguments: rest = [] }) {
      await vscode.commands.executeCommand(command, ...rest);
    },
  };
}
