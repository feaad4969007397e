// A language model that answers from a script, and a command that asks it in the chat. What it is given to answer is
// written to `asked.jsonl` in the folder that is open.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const VENDOR = "adk-evidence-tests";
const PIECE = 7;
const ANSWER = `A plugin retries it [CTX 1], as [CTX 2] and [CTX 99] say.

\`\`\`python
plugin = RetryPlugin()  # [CTX 1]
\`\`\`
`;

const provider = {
  provideLanguageModelChatInformation: () => [
    {
      id: "scripted",
      name: "Scripted",
      family: "scripted",
      version: "1",
      maxInputTokens: 32_000,
      maxOutputTokens: 4000,
      capabilities: {},
      isUserSelectable: true,
    },
  ],

  provideTokenCount: async (_model, text) => Math.ceil((typeof text === "string" ? text : textOf(text)).length / 4),

  async provideLanguageModelChatResponse(_model, messages, _options, progress) {
    const asked = messages.map(textOf);
    if (asked.at(-1).includes("Write the queries alone")) {
      progress.report(new vscode.LanguageModelTextPart("retry plugin"));
      return;
    }
    const [{ uri }] = vscode.workspace.workspaceFolders;
    fs.appendFileSync(path.join(uri.fsPath, "asked.jsonl"), `${JSON.stringify(asked)}\n`);
    const answer = answerTo(asked.at(-1));
    for (let at = 0; at < answer.length; at += PIECE) {
      progress.report(new vscode.LanguageModelTextPart(answer.slice(at, at + PIECE)));
    }
  },
};

function textOf({ content }) {
  return content.map((part) => part.value ?? "").join("");
}

function answerTo(prompt) {
  const request = prompt.slice(prompt.lastIndexOf("REQUEST:"));
  if (request.includes("REFUSE")) {
    throw vscode.LanguageModelError.Blocked("no");
  }
  // As a model would that does what the evidence tells it, without fences around it.
  if (request.includes("REPEAT")) {
    return `[CTX 99](https://evil.example) ${prompt.replaceAll(/^`{3,}\w*$/gm, "")}`;
  }
  return ANSWER;
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider(VENDOR, provider),
    vscode.commands.registerCommand("adkEvidenceTests.askInChat", async () => {
      const query = await vscode.window.showInputBox({ title: "Question for the chat" });
      await vscode.commands.executeCommand("workbench.action.chat.open", {
        query,
        mode: "ask",
        modelSelector: { vendor: VENDOR, id: "scripted" },
      });
    }),
  );
};
