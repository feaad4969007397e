/** Names that package.json and the language server know, too. */

export const SECTION = "adkEvidence";

export const COMMANDS = {
  getStarted: "adkEvidence.getStarted",
  findEvidence: "adkEvidence.findEvidence",
  askQuestion: "adkEvidence.askQuestion",
  explainError: "adkEvidence.explainError",
  explainTerminalError: "adkEvidence.explainTerminalError",
  findSymbol: "adkEvidence.findSymbol",
  openFileOnDisk: "adkEvidence.openFileOnDisk",
  ingest: "adkEvidence.ingest",
  indexProject: "adkEvidence.indexProject",
  copyEvidence: "adkEvidence.copyEvidence",
  savePack: "adkEvidence.savePack",
  openSavedPack: "adkEvidence.openSavedPack",
  connectAgents: "adkEvidence.connectAgents",
  status: "adkEvidence.status",
} as const;

/** What buttons, the status item and its menu run; the palette does not list them. */
export const BUTTON_COMMANDS = {
  runDoctor: "adkEvidence.runDoctor",
  stopGettingStarted: "adkEvidence.stopGettingStarted",
  setVoyageApiKey: "adkEvidence.setVoyageApiKey",
  setUpEnvironment: "adkEvidence.setUpEnvironment",
  restartServer: "adkEvidence.restartServer",
  showLogs: "adkEvidence.showLogs",
} as const;

/** What links of hovers and terminals run; the palette does not list them. */
export const LINK_COMMANDS = {
  openCitation: "adkEvidence.openCitation",
  openFrame: "adkEvidence.openFrame",
} as const;

/** Context keys for `when` clauses. */
export const CONTEXT = {
  hasAdk: "adkEvidence.hasAdk",
  /** The folders were looked at. Before that, the shortcut asks in any Python file: its keys are not lost. */
  hasLooked: "adkEvidence.hasLooked",
  hasPack: "adkEvidence.hasPack",
  errorSelected: "adkEvidence.errorSelected",
  hasIndex: "adkEvidence.hasIndex",
  serverReady: "adkEvidence.serverReady",
  /** The job that sets everything up runs, or was begun and has not ended. */
  settingUp: "adkEvidence.settingUp",
  setUpStopped: "adkEvidence.setUpStopped",
  /** The editor in use shows a source that the panel opened: Escape leads back. */
  openedByPanel: "adkEvidence.openedByPanel",
  /** Evidence was shown in this workspace. */
  panelUsed: "adkEvidence.panelUsed",
} as const;

/** The setting that offers the MCP server instead of the extension's own tool for models. */
export const MCP_ENABLED = "adkEvidence.mcp.enabled";

/** The provider of the MCP server. */
export const MCP_PROVIDER = "adkEvidence.mcp";

/** The chat participant. */
export const PARTICIPANT = "adkEvidence.adk";

/** The panel's view. */
export const EVIDENCE_VIEW = "adkEvidence.view";

/** The scheme of read-only documents with a cited source at its commit. */
export const SOURCE_SCHEME = "adk-evidence";
