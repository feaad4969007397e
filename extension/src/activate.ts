/** Puts the extension together: its parts, its one table of commands, and what the editor is given. */

import path from "node:path";
import * as vscode from "vscode";
import { createApi } from "./api/index";
import type { AdkEvidenceApi } from "./api/types";
import { registerEvidenceOnly } from "./chat/evidenceOnly";
import { registerParticipant } from "./chat/participant";
import { registerEvidenceTool } from "./chat/tool";
import { Rewording } from "./chat/wordings";
import { askQuestion } from "./commands/ask";
import { type CommandTable, registerCommands } from "./commands/command";
import { connectAgents } from "./commands/connectAgents";
import { copyShown } from "./commands/copy";
import { Doctor } from "./commands/doctor";
import { pythonFor, setUpEnvironment } from "./commands/environment";
import { explainError, explainTerminalError, followSelection } from "./commands/explainError";
import { findEvidence } from "./commands/find";
import { findSymbol } from "./commands/findSymbol";
import { consentLines, getStarted, jobParts, lacksPackages, runJob } from "./commands/getStarted";
import { indexProject } from "./commands/indexProject";
import { ingestCorpora } from "./commands/ingest";
import { setVoyageApiKey } from "./commands/key";
import { openCitation } from "./commands/openCitation";
import { openFileOnDisk } from "./commands/openFileOnDisk";
import { openFrame } from "./commands/openFrame";
import { restartServer } from "./commands/restart";
import { openSavedPack, savePack } from "./commands/savedPacks";
import { folderPath } from "./config";
import { CitedLocations } from "./evidence/citedLocations";
import { Evidence } from "./evidence/client";
import { Highlight } from "./evidence/highlight";
import { Citations } from "./evidence/openCitation";
import { followOpened, panelActions } from "./evidence/panelActions";
import { TASK_MODE } from "./evidence/question";
import { folderInUse, followEditors, scopeInUse } from "./evidence/scope";
import { SourceDocuments } from "./evidence/sourceDocuments";
import { synchronize } from "./evidence/synchronized";
import { BUTTON_COMMANDS, COMMANDS, CONTEXT, EVIDENCE_VIEW, LINK_COMMANDS } from "./ids";
import { createLog } from "./log";
import { registerMcpServers } from "./mcp/provider";
import { AdkProjects } from "./server/adkProject";
import { Checkers } from "./server/checkers";
import { findPayload, PrivateEnvironment } from "./server/environment";
import { GetStarted } from "./server/getStarted";
import { Interpreters } from "./server/interpreters";
import { JobCard } from "./server/jobCard";
import { VoyageKey } from "./server/key";
import { ServerPool } from "./server/pool";
import { run } from "./server/process";
import { Prober } from "./server/python";
import { onDidRecover } from "./server/recovery";
import { showProblem } from "./server/showProblem";
import { StatusItem } from "./server/status";
import type { Situation } from "./server/statusText";
import { createWorkspace, extensionVersion, folderOf, onDidChangePrograms } from "./server/workspace";
import { registerErrorLinks } from "./terminal/errorLinks";
import { upkeep } from "./upkeep";
import { WorkspaceMemory } from "./webview/memory";
import { PackPanel } from "./webview/panel";

let pool: ServerPool | undefined;

/** Starts nothing that takes time: servers start when they are needed, or in the background. */
export function activate(context: vscode.ExtensionContext): AdkEvidenceApi {
  const log = createLog();
  const version = extensionVersion(context);
  const [tool] = context.extension.packageJSON.contributes.languageModelTools;
  const prober = new Prober(run);
  const key = new VoyageKey(context.secrets);
  const server = path.join(context.extensionPath, "extension", "dist", "server");
  const payload = async () => findPayload(server, await key.isGiven());
  const environment = new PrivateEnvironment(context.globalStorageUri.fsPath, payload, run, prober.probe);
  const interpreters = new Interpreters();
  const projects = new AdkProjects(log);
  synchronize((document) => projects.has(document));
  const parts = { context, log, prober, environment, key, interpreters, projects, pool: () => servers };
  const workspace = createWorkspace(parts);
  const servers: ServerPool = new ServerPool(workspace);
  pool = servers;
  const setUp = { environment, prober, pool: servers, log };
  const doctor = new Doctor(servers, version);

  const checkers = new Checkers(path.join(context.extensionPath, "extension", "dist", "checker"), {
    log,
    folders: () =>
      (vscode.workspace.workspaceFolders ?? [])
        .filter((one) => vscode.workspace.isTrusted && folderPath(one) !== undefined && projects.has(one.uri))
        .map(({ uri }) => folderOf(uri)),
    state: ({ uri }) => servers.state(uri),
    onDidChange: (listener) => vscode.Disposable.from(servers.onDidChange(listener), projects.onDidFind(listener)),
    findPython: (folder) => pythonFor(folder, setUp),
    createSession: workspace.createSession,
  });

  const evidence = new Evidence(servers);
  const job = new GetStarted(jobParts(setUp, evidence), context.globalState);
  const status = new StatusItem(servers, folderOf, job, projects);
  const documents = new SourceDocuments(evidence);
  const highlight = new Highlight();
  const citations = new Citations(evidence, documents, highlight);
  const panel = new PackPanel(
    context.extensionUri,
    panelActions(evidence, citations),
    new WorkspaceMemory(context),
    TASK_MODE,
  );

  const folder = () => folderInUse()?.uri.toString() ?? "";
  const consent = async ({ state, project }: Situation) => {
    const packages = await lacksPackages(state, () => servers.explain(scopeInUse()));
    return consentLines(packages, project ?? null);
  };
  const card = new JobCard({
    job,
    consent,
    dependsOn: () => [folder()],
    show: (view) => panel.showJob(view),
  });

  const commands: CommandTable = {
    [COMMANDS.getStarted]: (argument) =>
      getStarted(
        argument,
        job,
        () => consent(status.situation()),
        () => panel.reveal(),
      ),
    [BUTTON_COMMANDS.stopGettingStarted]: () => (job.state.phase === "running" ? job.stop() : job.dismiss()),
    [COMMANDS.findEvidence]: (argument) => findEvidence(argument, evidence, panel),
    [COMMANDS.askQuestion]: () => askQuestion(panel),
    [COMMANDS.explainError]: (argument) => explainError(argument, panel),
    [COMMANDS.explainTerminalError]: () => explainTerminalError(panel),
    [COMMANDS.findSymbol]: (argument) => findSymbol(argument, evidence, citations),
    [COMMANDS.openFileOnDisk]: () => openFileOnDisk(documents),
    [COMMANDS.ingest]: (argument) => ingestCorpora(argument, evidence, log, job, () => panel.reveal()),
    [COMMANDS.indexProject]: () => indexProject(evidence, log, job, () => panel.reveal()),
    [BUTTON_COMMANDS.setVoyageApiKey]: () => setVoyageApiKey(key),
    [COMMANDS.copyEvidence]: () => copyShown(panel.pack, evidence),
    [COMMANDS.savePack]: () => savePack(panel, evidence),
    [COMMANDS.openSavedPack]: () => openSavedPack(panel, evidence),
    [BUTTON_COMMANDS.setUpEnvironment]: (argument) =>
      setUpEnvironment(
        argument,
        setUp,
        job,
        () => panel.reveal(),
        (request) => runJob(request, job),
      ),
    [BUTTON_COMMANDS.restartServer]: () => restartServer(servers),
    [BUTTON_COMMANDS.showLogs]: () => log.show(),
    [COMMANDS.connectAgents]: async () =>
      connectAgents(await workspace.resolve(folderOf(folderInUse()?.uri), false), folderInUse(), environment),
    [COMMANDS.status]: () => status.showMenu(),
    [LINK_COMMANDS.openCitation]: (argument) => openCitation(argument, citations),
    [LINK_COMMANDS.openFrame]: (argument) => openFrame(argument, evidence, citations),
    [BUTTON_COMMANDS.runDoctor]: () => doctor.run(),
  };

  context.subscriptions.push(
    log,
    followEditors(),
    followOpened(),
    followSelection(),
    projects,
    interpreters,
    checkers,
    status,
    doctor,
    panel,
    highlight,
    documents.register(),
    vscode.window.registerWebviewViewProvider(EVIDENCE_VIEW, panel),
    registerCommands(commands, log),
    registerErrorLinks(),
    registerEvidenceTool(evidence, tool.inputSchema.properties),
    registerEvidenceOnly({ inUse: () => projects.hasInUse(undefined), onDidFind: projects.onDidFind }),
    registerParticipant(
      { evidence, locations: new CitedLocations(evidence, documents), rewording: new Rewording(log), log },
      context.extensionUri,
    ),
    registerMcpServers({
      version,
      key,
      wanted: (folder) => projects.hasFolder(folder),
      resolve: (folder, fresh) => workspace.resolve(folderOf(folder?.uri), fresh),
      onDidChange: (listener) =>
        vscode.Disposable.from(
          onDidChangePrograms(listener),
          environment.onDidSetUp(listener),
          projects.onDidFind(listener),
        ),
    }),
    servers.onDidGiveUp((problem) => void showProblem(problem)),
    status.onDidChange((situation) => {
      job.learn(situation);
      void card.show(situation);
    }),
    onDidRecover(servers, job, (codes, again) => {
      void panel.retryAfter(codes);
      if (again) {
        void panel.improve();
      }
    }),
    panel.onDidAsk(() => job.state.phase !== "stopped" && job.dismiss()),
    panel.onDidChangePack((pack) => vscode.commands.executeCommand("setContext", CONTEXT.hasPack, pack !== null)),
    upkeep(setUp, key, projects),
  );
  return createApi(evidence);
}

/** Ends the servers with the window. */
export function deactivate(): Promise<void> | undefined {
  return pool?.stop();
}
