/** Names that package.json and the language server know, too. */

export const SECTION = "adkEvidence";

export const COMMANDS = {
  getStarted: "adkEvidence.getStarted",
  stopGettingStarted: "adkEvidence.stopGettingStarted",
  findEvidence: "adkEvidence.findEvidence",
  askQuestion: "adkEvidence.askQuestion",
  explainError: "adkEvidence.explainError",
  explainTerminalError: "adkEvidence.explainTerminalError",
  findSymbol: "adkEvidence.findSymbol",
  openFileOnDisk: "adkEvidence.openFileOnDisk",
  ingest: "adkEvidence.ingest",
  indexProject: "adkEvidence.indexProject",
  showStatus: "adkEvidence.showStatus",
  setVoyageApiKey: "adkEvidence.setVoyageApiKey",
  copyMarkdown: "adkEvidence.copyMarkdown",
  copyJson: "adkEvidence.copyJson",
  copyPrompt: "adkEvidence.copyPrompt",
  savePack: "adkEvidence.savePack",
  openSavedPack: "adkEvidence.openSavedPack",
  compareSavedPack: "adkEvidence.compareSavedPack",
  openInTab: "adkEvidence.openInTab",
  showInView: "adkEvidence.showInView",
  showHistory: "adkEvidence.showHistory",
  setUpEnvironment: "adkEvidence.setUpEnvironment",
  restartServer: "adkEvidence.restartServer",
  showLogs: "adkEvidence.showLogs",
  runDoctor: "adkEvidence.runDoctor",
} as const;

/** What a click on the status item runs; the palette does not list it. */
export const STATUS_MENU = "adkEvidence.statusMenu";

/** What links of hovers and terminals run; the palette does not list them. */
export const LINK_COMMANDS = {
  openCitation: "adkEvidence.openCitation",
  openFrame: "adkEvidence.openFrame",
} as const;

/** Context keys for `when` clauses. */
export const CONTEXT = {
  hasAdk: "adkEvidence.hasAdk",
  hasPack: "adkEvidence.hasPack",
  hasIndex: "adkEvidence.hasIndex",
  serverReady: "adkEvidence.serverReady",
  /** The job that sets everything up runs, or was begun and has not ended. */
  settingUp: "adkEvidence.settingUp",
  setUpStopped: "adkEvidence.setUpStopped",
  /** Evidence was shown in this workspace. */
  panelUsed: "adkEvidence.panelUsed",
} as const;

/** The setting that offers the MCP server instead of the extension's own tool for models. */
export const MCP_ENABLED = "adkEvidence.mcp.enabled";

/** The setting that lets @adk answer where the editor has no language model. */
export const EVIDENCE_ONLY = "adkEvidence.chat.evidenceOnly";

/** The provider of the MCP server. */
export const MCP_PROVIDER = "adkEvidence.mcp";

/** The chat participant. */
export const PARTICIPANT = "adkEvidence.adk";

/** The type of the panel's tab. */
export const PACK_VIEW = "adkEvidence.pack";

/** The panel's view. */
export const EVIDENCE_VIEW = "adkEvidence.view";

/** Where the workspace's state keeps the versions that the user does not want to index. */
export const DECLINED_VERSIONS = "adkEvidence.declinedVersions";

/** The scheme of read-only documents with a cited source at its commit. */
export const SOURCE_SCHEME = "adk-evidence";
