/** Names that package.json and the language server know, too. */

export const SECTION = "adkEvidence";

export const COMMANDS = {
  findEvidence: "adkEvidence.findEvidence",
  askQuestion: "adkEvidence.askQuestion",
  findSymbol: "adkEvidence.findSymbol",
  openFileOnDisk: "adkEvidence.openFileOnDisk",
  ingest: "adkEvidence.ingest",
  showStatus: "adkEvidence.showStatus",
  setVoyageApiKey: "adkEvidence.setVoyageApiKey",
  copyMarkdown: "adkEvidence.copyMarkdown",
  copyJson: "adkEvidence.copyJson",
  copyPrompt: "adkEvidence.copyPrompt",
  savePack: "adkEvidence.savePack",
  openSavedPack: "adkEvidence.openSavedPack",
  compareSavedPack: "adkEvidence.compareSavedPack",
  setUpEnvironment: "adkEvidence.setUpEnvironment",
  restartServer: "adkEvidence.restartServer",
  showLogs: "adkEvidence.showLogs",
  runDoctor: "adkEvidence.runDoctor",
} as const;

/** What a click on the status item runs; the palette does not list it. */
export const STATUS_MENU = "adkEvidence.statusMenu";

/** Context keys for `when` clauses. */
export const CONTEXT = {
  hasPack: "adkEvidence.hasPack",
  hasIndex: "adkEvidence.hasIndex",
  serverReady: "adkEvidence.serverReady",
} as const;

/** The provider of the MCP server. */
export const MCP_PROVIDER = "adkEvidence.mcp";

/** The chat participant. */
export const PARTICIPANT = "adkEvidence.adk";

/** The webview panel's type. */
export const PACK_VIEW = "adkEvidence.pack";

/** Where the workspace's state keeps the versions that the user does not want to index. */
export const DECLINED_VERSIONS = "adkEvidence.declinedVersions";

/** The scheme of read-only documents with a cited source at its commit. */
export const SOURCE_SCHEME = "adk-evidence";
