// What another extension does to use ADK Evidence.
const vscode = require("vscode");

exports.activate = () => ({
  ask(request, token) {
    return vscode.extensions.getExtension("adk-evidence.adk-evidence").exports.findEvidence(request, token);
  },
});
