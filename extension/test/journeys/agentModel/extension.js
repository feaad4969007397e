// A model that calls one tool with the user's question, and answers with the first citation of its result. It takes the
// tool that the question names, else find_adk_evidence; it says which tools it was offered where that is not among them,
// or where it is asked.
const vscode = require("vscode");

const CITATION = /adk-(?:docs|python)@[0-9a-f]{40}:[^\s"\\]+/;

const provider = {
  provideLanguageModelChatInformation: () => [
    {
      id: "scripted",
      name: "Scripted",
      family: "scripted",
      version: "1",
      maxInputTokens: 100_000,
      maxOutputTokens: 4_096,
      capabilities: { toolCalling: true },
      isUserSelectable: true,
    },
  ],

  provideTokenCount: async (_model, text) =>
    Math.ceil((typeof text === "string" ? text : JSON.stringify(text)).length / 4),

  async provideLanguageModelChatResponse(_model, messages, options, progress) {
    const parts = messages.flatMap(({ content }) => content);
    const result = parts.find((part) => part instanceof vscode.LanguageModelToolResultPart);
    if (result) {
      const text = textOf(result.content);
      progress.report(
        new vscode.LanguageModelTextPart(`The evidence says so: \`${CITATION.exec(text)?.[0] ?? text}\``),
      );
      return;
    }
    const question = textOf(parts);
    const offered = (options.tools ?? []).map(({ name }) => name);
    const wanted = offered.find((name) => question.includes(`#${name}`)) ?? "find_adk_evidence";
    progress.report(
      offered.includes(wanted) && !question.includes("Which tools")
        ? new vscode.LanguageModelToolCallPart("call-1", wanted, { query: "How do I retry a tool that throws?" })
        : new vscode.LanguageModelTextPart(`I was offered these tools: ${offered.join(", ")}`),
    );
  },
};

function textOf(parts) {
  return parts.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("\n");
}

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("adk-evidence-agent-tests", provider));
};
