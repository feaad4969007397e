/** Puts the extension together: its parts, its one table of commands, and what the editor is given. */

import path from "node:path";
import * as vscode from "vscode";
import { createApi } from "./api/index";
import type { AdkEvidenceApi } from "./api/types";
import { registerParticipant } from "./chat/participant";
import { registerEvidenceTool } from "./chat/tool";
import { askQuestion } from "./commands/ask";
import { type CommandTable, registerCommands } from "./commands/command";
import { copyShown } from "./commands/copy";
import { Doctor } from "./commands/doctor";
import { setUpEnvironment } from "./commands/environment";
import { findEvidence } from "./commands/find";
import { findSymbol } from "./commands/findSymbol";
import { ingestCorpora } from "./commands/ingest";
import { setVoyageApiKey } from "./commands/key";
import { openFileOnDisk } from "./commands/openFileOnDisk";
import { RecentQuestions } from "./commands/recentQuestions";
import { ReportDocument } from "./commands/reportDocument";
import { restartServer } from "./commands/restart";
import { compareSavedPack, openSavedPack, savePack } from "./commands/savedPacks";
import { showStatus } from "./commands/status";
import { CitedLocations } from "./evidence/citedLocations";
import { Evidence } from "./evidence/client";
import { Highlight } from "./evidence/highlight";
import { Citations } from "./evidence/openCitation";
import { panelActions } from "./evidence/panelActions";
import { taskModeOf } from "./evidence/requestSettings";
import { followEditors } from "./evidence/scope";
import { SourceDocuments } from "./evidence/sourceDocuments";
import { COMMANDS, CONTEXT, PACK_VIEW, STATUS_MENU } from "./ids";
import { createLog } from "./log";
import { registerMcpServers } from "./mcp/provider";
import { findPayload, PrivateEnvironment } from "./server/environment";
import { Interpreters } from "./server/interpreters";
import { VoyageKey } from "./server/key";
import { ServerPool } from "./server/pool";
import { run } from "./server/process";
import { Prober } from "./server/python";
import { onDidRecover } from "./server/recovery";
import { showProblem } from "./server/showProblem";
import { StatusItem } from "./server/status";
import { VersionOffer } from "./server/versionOffer";
import { createWorkspace, extensionVersion, folderOf, onDidChangePrograms } from "./server/workspace";
import { upkeep } from "./upkeep";
import { PackPanel } from "./webview/panel";

let pool: ServerPool | undefined;

/** Starts nothing that takes time: servers start when they are needed, or in the background. */
export function activate(context: vscode.ExtensionContext): AdkEvidenceApi {
  const log = createLog();
  const version = extensionVersion(context);
  const prober = new Prober(run);
  const payload = () => findPayload(path.join(context.extensionPath, "extension", "dist", "server"));
  const environment = new PrivateEnvironment(context.globalStorageUri.fsPath, payload, run, prober.probe);
  const key = new VoyageKey(context.secrets);
  const interpreters = new Interpreters();
  const workspace = createWorkspace({ context, log, prober, environment, key, interpreters, pool: () => servers });
  const servers: ServerPool = new ServerPool(workspace);
  pool = servers;
  const setUp = { environment, prober, pool: servers, log };
  const status = new StatusItem(servers, folderOf);
  const doctor = new Doctor(servers, version);
  const offer = new VersionOffer(context.workspaceState);

  const evidence = new Evidence(servers);
  const documents = new SourceDocuments(evidence);
  const highlight = new Highlight();
  const citations = new Citations(evidence, documents, highlight);
  const panel = new PackPanel(context.extensionUri, panelActions(evidence, citations), taskModeOf(undefined));
  const comparison = new ReportDocument("adk-evidence-comparison", "ADK Evidence Comparison");
  const recent = new RecentQuestions(context.workspaceState);

  const commands: CommandTable = {
    [COMMANDS.findEvidence]: (argument) => findEvidence(argument, evidence, panel),
    [COMMANDS.askQuestion]: () => askQuestion(panel, recent),
    [COMMANDS.findSymbol]: (argument) => findSymbol(argument, evidence, citations),
    [COMMANDS.openFileOnDisk]: () => openFileOnDisk(documents),
    [COMMANDS.ingest]: (argument) => ingestCorpora(argument, evidence, log),
    [COMMANDS.showStatus]: () => showStatus(evidence),
    [COMMANDS.setVoyageApiKey]: () => setVoyageApiKey(key),
    [COMMANDS.copyMarkdown]: () => copyShown("markdown", panel.pack, evidence),
    [COMMANDS.copyJson]: () => copyShown("json", panel.pack, evidence),
    [COMMANDS.copyPrompt]: () => copyShown("prompt", panel.pack, evidence),
    [COMMANDS.savePack]: () => savePack(panel, evidence),
    [COMMANDS.openSavedPack]: () => openSavedPack(panel, evidence),
    [COMMANDS.compareSavedPack]: () => compareSavedPack(panel, comparison),
    [COMMANDS.setUpEnvironment]: (argument) => setUpEnvironment(argument, setUp),
    [COMMANDS.restartServer]: () => restartServer(servers),
    [COMMANDS.showLogs]: () => log.show(),
    [COMMANDS.runDoctor]: () => doctor.run(),
    [STATUS_MENU]: () => status.showMenu(),
  };

  context.subscriptions.push(
    log,
    followEditors(),
    interpreters,
    status,
    doctor,
    panel,
    comparison,
    highlight,
    documents.register(),
    vscode.window.registerWebviewPanelSerializer(PACK_VIEW, panel),
    registerCommands(commands, log),
    registerEvidenceTool(evidence),
    registerParticipant({ evidence, locations: new CitedLocations(evidence, documents), log }, context.extensionUri),
    registerMcpServers({
      version,
      key,
      resolve: (folder, fresh) => workspace.resolve(folderOf(folder?.uri), fresh),
      onDidChange: (listener) =>
        vscode.Disposable.from(onDidChangePrograms(listener), environment.onDidSetUp(listener)),
    }),
    servers.onDidAnswer((answered) => void offer.consider(answered)),
    servers.onDidGiveUp((problem) => void showProblem(problem)),
    onDidRecover(servers, (codes) => void panel.retryAfter(codes)),
    panel.onDidChangePack((pack) => vscode.commands.executeCommand("setContext", CONTEXT.hasPack, pack !== null)),
    upkeep(setUp, key),
  );
  return createApi(evidence);
}

/** Ends the servers with the window. */
export function deactivate(): Promise<void> | undefined {
  return pool?.stop();
}
