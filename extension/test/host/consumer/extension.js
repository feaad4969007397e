// What another extension does to use ADK Evidence.
const vscode = require("vscode");

exports.activate = async () => {
  const api = await vscode.extensions.getExtension("adk-evidence.adk-evidence").activate();
  return {
    version: api.version,
    ask: (request, token) => api.findEvidence(request, token),
    symbol: (name) => api.findSymbol(name),
    prompt: (pack, maxTokens) => api.toPrompt(pack, maxTokens),
    markdown: (pack) => api.toMarkdown(pack),
  };
};
