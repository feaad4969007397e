import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import * as vscode from "vscode";
import type { EvidencePack, FindEvidenceRequest } from "../../src/api/types";
import { BUTTON_COMMANDS, COMMANDS, LINK_COMMANDS, SOURCE_SCHEME } from "../../src/ids";
import type { SymbolResult } from "../../src/protocol/generated";
import { processesWith } from "../e2e/processes";
import { until } from "../e2e/until";

const ID = "adk-evidence.adk-evidence";
const CONSUMER = "adk-evidence-tests.consumer";
/** On RetryPlugin in `agent.py`. */
const AGENT_PLACE = new vscode.Position(5, 12);
const HOSTILE = "src/google/adk/hostile.py";
const QUESTION = "How do I retry a tool that throws?";

/** A table of released versions that knows the version of the corpus. */
const RELEASED = {
  format: 1,
  distribution: "google-adk",
  versions: ["9.9.0"],
  modules: {
    "google.adk": "\t0 0 m",
    "google.adk.plugins": "\t0 0 m\nRetryPlugin\t0 0 =google.adk.plugins.retry.RetryPlugin",
    "google.adk.plugins.retry": "\t0 0 m\nRetryPlugin\t0 0 c:\nRetryPlugin.__init__\t0 0 f:max_retries=",
  },
};

interface Consumer {
  version: number;
  ask(request: FindEvidenceRequest, token?: vscode.CancellationToken): Promise<EvidencePack>;
  symbol(name: string): Promise<SymbolResult | null>;
  prompt(pack: EvidencePack, maxTokens?: number): Promise<string>;
  markdown(pack: EvidencePack): Promise<string>;
}

describe("the extension in its host", () => {
  const settings: Record<string, unknown> = JSON.parse(process.env.ADK_EVIDENCE_TEST_SETTINGS ?? "{}");
  const home = String(settings["adkEvidence.home"]);
  const corpus = path.dirname(home);
  const configuration = () => vscode.workspace.getConfiguration("adkEvidence");
  let consumer: Consumer;

  before(async () => {
    const extension = vscode.extensions.getExtension<Consumer>(CONSUMER);
    assert.ok(extension);
    consumer = await extension.activate();
  });

  function folder(index: number): vscode.Uri {
    const found = vscode.workspace.workspaceFolders?.[index];
    assert.ok(found);
    return found.uri;
  }

  function agentFile(index = 0): vscode.Uri {
    return vscode.Uri.joinPath(folder(index), "agent.py");
  }

  async function hoversAt(uri: vscode.Uri, place: vscode.Position): Promise<vscode.Hover[]> {
    await vscode.workspace.openTextDocument(uri);
    return vscode.commands.executeCommand("vscode.executeHoverProvider", uri, place);
  }

  async function hoverText(uri: vscode.Uri, place: vscode.Position): Promise<string> {
    return (await hoversAt(uri, place))
      .flatMap(({ contents }) => contents)
      .map((content) => (typeof content === "string" ? content : content.value))
      .join("\n");
  }

  /** What the editor's own list shows for RetryPlugin. */
  async function workspaceSymbols(): Promise<vscode.SymbolInformation[]> {
    const found = await vscode.commands.executeCommand<vscode.SymbolInformation[]>(
      "vscode.executeWorkspaceSymbolProvider",
      "RetryPlugin",
    );
    return found.filter(({ name }) => name === "RetryPlugin");
  }

  function servers(): number[] {
    return processesWith("server.py", "lsp", corpus);
  }

  it("is active, with every command that the manifest names", async () => {
    const extension = vscode.extensions.getExtension(ID);
    assert.equal(extension?.isActive, true);
    const commands = await vscode.commands.getCommands(true);
    for (const { command } of extension?.packageJSON.contributes.commands ?? []) {
      assert.ok(commands.includes(command), command);
    }
  });

  it("gives another extension a pack whose citations are verified", async () => {
    const pack = await consumer.ask({ query: QUESTION });
    assert.equal(pack.status, "success");
    assert.ok(pack.candidates.length >= 3);
    for (const { citation, verification, origin, source_type, path: file, lines, text } of pack.candidates) {
      assert.match(citation, /^adk-(docs|python)@/);
      assert.equal(verification.state, "exact", citation);
      if (origin !== "repository" || lines === null) {
        continue;
      }
      const source = fs.readFileSync(path.join(corpus, source_type === "docs" ? "docs" : "code", file), "utf8");
      const [first = ""] = source.split("\n").slice(lines.start - 1, lines.end);
      assert.ok(text.includes(first), `${citation}: ${first}`);
    }
  });

  it("answers each folder of the version that its project uses", async () => {
    const pins = vscode.Uri.joinPath(folder(1), "requirements.txt");
    const ask = (index: number) => consumer.ask({ query: QUESTION, scope: folder(index).toString() });
    try {
      await vscode.workspace.fs.writeFile(pins, Buffer.from("google-adk==9.9.0\n"));
      assert.equal((await ask(0)).adk, null);
      assert.deepEqual((await ask(1)).adk, { indexed: "9.9.0", wanted: "9.9.0", taken_from: "requirements.txt" });
      await vscode.workspace.fs.writeFile(pins, Buffer.from("google-adk==9.8.0\n"));
      const other = await ask(1);
      assert.deepEqual(other.adk, { indexed: "9.9.0", wanted: "9.8.0", taken_from: "requirements.txt" });
      assert.ok(other.warnings.some(({ code }) => code === "version_not_indexed"));
    } finally {
      await vscode.workspace.fs.delete(pins);
    }
  });

  it("gives another extension a pack as a prompt within its budget, and as Markdown", async () => {
    assert.equal(consumer.version, 1);
    const pack = await consumer.ask({ query: QUESTION });
    const [first] = pack.candidates;
    assert.ok(first);
    const whole = await consumer.prompt(pack);
    for (const { citation, adds_little } of pack.candidates) {
      assert.ok(adds_little || whole.includes(citation), citation);
    }
    const short = await consumer.prompt(pack, 400);
    assert.ok(short.length < whole.length);
    assert.ok(short.includes(first.citation));
    assert.match(await consumer.markdown(pack), /RetryPlugin/);
  });

  it("tells another extension what a name means, and that one means nothing", async () => {
    const found = await consumer.symbol("RetryPlugin");
    assert.equal(found?.fqn, "google.adk.plugins.retry.RetryPlugin");
    assert.match(found.citation, /^adk-python@[0-9a-f]{40}:src\/google\/adk\/plugins\/retry\.py#L\d+-L\d+$/);
    assert.equal(await consumer.symbol("NothingOfTheKind"), null);
  });

  it("refuses a request of a wrong form with a sentence and a code", async () => {
    const pack = await consumer.ask({ query: QUESTION });
    const wrong: [Promise<unknown>, RegExp][] = [
      [consumer.ask({ query: QUESTION, maxResults: -1 }), /maxResults/],
      [consumer.ask({ query: "" }), /query/],
      [consumer.symbol(""), /name/],
      [consumer.prompt(pack, 0), /maxTokens/],
      [consumer.prompt({ ...pack, candidates: "none" } as unknown as EvidencePack), /candidates/],
    ];
    for (const [request, message] of wrong) {
      await assert.rejects(request, { code: "invalid_request", message });
    }
  });

  it("ends a request that is cancelled, and answers the next", async () => {
    const source = new vscode.CancellationTokenSource();
    const held = consumer.ask({ query: "HOLD this question" }, source.token);
    const outcome = assert.rejects(held, { code: "cancelled" });
    source.cancel();
    await outcome;
    assert.equal((await consumer.ask({ query: QUESTION })).status, "success");
  });

  it("says in a hover what a name is", async () => {
    const text = await hoverText(agentFile(), AGENT_PLACE);
    assert.match(text, /class RetryPlugin/);
    assert.match(text, /command:adkEvidence\.findEvidence/);
  });

  it("goes to the cited definition of a name, and to no other where another extension knows one", async () => {
    await vscode.workspace.openTextDocument(agentFile());
    const definitions = () =>
      vscode.commands.executeCommand<vscode.Location[]>("vscode.executeDefinitionProvider", agentFile(), AGENT_PLACE);
    const [found] = await definitions();
    assert.equal(found?.uri.scheme, SOURCE_SCHEME);
    const text = (await vscode.workspace.openTextDocument(found.uri)).lineAt(found.range.start.line).text;
    assert.match(text, /^class RetryPlugin/);
    const other = new vscode.Location(agentFile(), new vscode.Position(0, 0));
    const provider = vscode.languages.registerDefinitionProvider("python", { provideDefinition: () => other });
    try {
      assert.deepEqual(
        (await definitions()).map(({ uri }) => uri.scheme),
        ["file"],
      );
    } finally {
      provider.dispose();
    }
  });

  it("offers evidence for a diagnostic", async () => {
    const range = new vscode.Range(5, 9, 5, 20);
    const collection = vscode.languages.createDiagnosticCollection("test");
    collection.set(agentFile(), [new vscode.Diagnostic(range, "400 INVALID_ARGUMENT")]);
    try {
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        "vscode.executeCodeActionProvider",
        agentFile(),
        range,
      );
      const [action] = actions.filter(({ command }) => command?.command === COMMANDS.findEvidence);
      assert.equal(action?.title, "Explain this error with ADK evidence");
      assert.equal(action?.command?.arguments?.[0]?.query, "400 INVALID_ARGUMENT");
      assert.equal(action?.command?.arguments?.[0]?.taskMode, "debug");
    } finally {
      collection.dispose();
    }
  });

  it("tells of a wrong keyword, cites the right one, mends it and can be turned off", async () => {
    const file = vscode.Uri.joinPath(folder(0), "wrong.py");
    const table = path.join(corpus, "released.json.gz");
    fs.writeFileSync(table, zlib.gzipSync(JSON.stringify(RELEASED)));
    fs.writeFileSync(file.fsPath, "from google.adk.plugins import RetryPlugin\n\nretry = RetryPlugin(max_retrys=3)\n");
    const own = () => vscode.languages.getDiagnostics(file).filter(({ source }) => source === "ADK Evidence");
    try {
      await vscode.window.showTextDocument(file);
      await until("the keyword is told of", 30_000, () => own().length === 1);
      const [remark] = own();
      assert.ok(remark);
      assert.equal(remark.severity, vscode.DiagnosticSeverity.Warning);
      assert.match(remark.message, /^google-adk 9\.9\.0 has no `RetryPlugin\(max_retrys=\)`.*`max_retries`\.$/);
      const [cited] = remark.relatedInformation ?? [];
      assert.equal(cited?.location.uri.scheme, SOURCE_SCHEME);
      assert.match(cited?.location.uri.path ?? "", /plugins\/retry\.py$/);

      const grave = { "unknown-keyword": "error" };
      await configuration().update("diagnostics.severity", grave, vscode.ConfigurationTarget.Global);
      await until(
        "it is as grave as the user says",
        30_000,
        () => own()[0]?.severity === vscode.DiagnosticSeverity.Error,
      );
      await configuration().update("diagnostics.enabled", false, vscode.ConfigurationTarget.Global);
      await until("it is silent", 30_000, () => own().length === 0);
      await configuration().update("diagnostics.enabled", undefined, vscode.ConfigurationTarget.Global);
      await until("it is told of again", 30_000, () => own().length === 1);

      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        "vscode.executeCodeActionProvider",
        file,
        remark.range,
      );
      const change = actions.find(({ title }) => title === "Change to max_retries");
      assert.ok(change?.edit);
      assert.ok(actions.some(({ title }) => title.startsWith("Find evidence for RetryPlugin")));
      await vscode.workspace.applyEdit(change.edit);
      await until("it is mended", 30_000, () => own().length === 0);
      const text = vscode.window.activeTextEditor?.document.getText();
      assert.match(text ?? "", /RetryPlugin\(max_retries=3\)/);
    } finally {
      await configuration().update("diagnostics.enabled", undefined, vscode.ConfigurationTarget.Global);
      await configuration().update("diagnostics.severity", undefined, vscode.ConfigurationTarget.Global);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      fs.rmSync(file.fsPath, { force: true });
      fs.rmSync(table, { force: true });
    }
  });

  it("shows a cited source at its commit in a document, and no other file", async () => {
    const pack = await consumer.ask({ query: "RetryPlugin", sources: ["code"] });
    const cited = pack.candidates.find(
      ({ origin, path: file }) => origin === "repository" && file.endsWith("retry.py"),
    );
    assert.ok(cited);
    const { repo, ref, path: file } = cited;
    const commit = pack.index?.corpora.adk_python?.commit ?? ref;
    const uri = vscode.Uri.from({ scheme: SOURCE_SCHEME, path: `/${repo}@${commit}/${file}` });
    const document = await vscode.workspace.openTextDocument(uri);
    assert.equal(document.getText(), fs.readFileSync(path.join(corpus, "code", file), "utf8"));
    assert.equal(document.languageId, "python");
    for (const other of ["../../../etc/passwd", "etc/passwd", "src/google/adk/../../../../home/CURRENT"]) {
      const wrong = vscode.Uri.from({ scheme: SOURCE_SCHEME, path: `/${repo}@${commit}/${other}` });
      await assert.rejects(Promise.resolve(vscode.workspace.openTextDocument(wrong)), other);
    }
  });

  it("opens the definition of a symbol that is chosen in a list", async () => {
    const definition = path.join(corpus, "code", "src/google/adk/plugins/retry.py");
    const before = fs.readFileSync(definition, "utf8");
    const opened = () => vscode.window.activeTextEditor?.document.uri.path.endsWith("/plugins/retry.py") ?? false;
    await vscode.window.showTextDocument(agentFile());
    const done = vscode.commands.executeCommand(COMMANDS.findSymbol, "RetryPlugin");
    await until("the definition is open", 30_000, async () => {
      // It does nothing as long as the list is empty.
      await vscode.commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
      return opened();
    });
    await done;
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    assert.deepEqual([editor.document.uri.scheme, editor.document.languageId], [SOURCE_SCHEME, "python"]);
    assert.ok(editor.selection.isEmpty && editor.selection.active.character === 0);
    assert.match(editor.document.lineAt(editor.selection.active.line).text, /^class RetryPlugin/);
    await vscode.commands.executeCommand("type", { text: "x" });
    await vscode.commands.executeCommand("deleteLeft");
    await vscode.commands.executeCommand("deleteRight");
    await vscode.commands.executeCommand("workbench.action.files.save");
    assert.equal(editor.document.isDirty, false);
    assert.equal(editor.document.getText(), before);
    assert.equal(fs.readFileSync(definition, "utf8"), before);
  });

  it("marks the lines of a link instead of selecting them", async () => {
    const place = await consumer.symbol("RetryPlugin");
    assert.ok(place);
    const uri = vscode.Uri.from({ scheme: SOURCE_SCHEME, path: `/${place.repo}@${place.commit}/${place.path}` });
    const { start, end } = place.lines;
    const document = await vscode.workspace.openTextDocument(uri);
    const selection = new vscode.Range(start - 1, 0, end - 1, document.lineAt(end - 1).text.length);
    await vscode.window.showTextDocument(document, { selection });
    await until("nothing is selected", 10_000, () => vscode.window.activeTextEditor?.selection.isEmpty ?? false);
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, start - 1);
  });

  it("finds symbols for the editor's own list of the workspace's", async () => {
    const [symbol] = await workspaceSymbols();
    assert.equal(symbol?.kind, vscode.SymbolKind.Class);
    assert.equal(symbol?.location.uri.scheme, SOURCE_SCHEME);
    const document = await vscode.workspace.openTextDocument(symbol.location.uri);
    assert.match(document.lineAt(symbol.location.range.start.line).text, /^class RetryPlugin/);
  });

  it("finds evidence for a selection, and then knows that there is something to copy", async () => {
    const editor = await vscode.window.showTextDocument(agentFile());
    editor.selection = new vscode.Selection(5, 9, 5, 20);
    await vscode.commands.executeCommand(COMMANDS.findEvidence);
    const done = vscode.commands.executeCommand(COMMANDS.copyEvidence);
    // The first form is Markdown.
    await until("it is copied", 30_000, async () => {
      await vscode.commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
      return /^# Evidence[\s\S]*RetryPlugin/.test(await vscode.env.clipboard.readText());
    });
    await done;
  });

  it("answers again after its server was killed", async () => {
    const [victim] = servers();
    assert.ok(victim);
    process.kill(victim, "SIGKILL");
    await until("another server runs", 60_000, () => servers().some((pid) => pid !== victim));
    assert.equal((await consumer.ask({ query: QUESTION })).status, "success");
  });

  it("restarts its server when it is told to", async () => {
    const [old] = servers();
    await vscode.commands.executeCommand(BUTTON_COMMANDS.restartServer);
    const now = servers();
    assert.equal(now.length, 1);
    assert.notEqual(now[0], old);
  });

  it("takes up changed settings without a restart of the window", async () => {
    await configuration().update("maxResults", 4, vscode.ConfigurationTarget.Workspace);
    assert.equal((await consumer.ask({ query: QUESTION })).candidates.length, 4);
    await configuration().update("maxResults", undefined, vscode.ConfigurationTarget.Workspace);

    const empty = path.join(path.dirname(corpus), "empty");
    await configuration().update("home", empty, vscode.ConfigurationTarget.Workspace);
    await until("there is no index", 60_000, () =>
      consumer.ask({ query: QUESTION }).then(
        () => false,
        (error: { code: string }) => error.code === "no_index",
      ),
    );
    assert.deepEqual(await workspaceSymbols(), []);
    // Its list would be empty for ever; it ends, and a message says why.
    await vscode.commands.executeCommand(COMMANDS.findSymbol, "RetryPlugin");
    await configuration().update("home", undefined, vscode.ConfigurationTarget.Workspace);
    await until("the index is back", 60_000, () =>
      consumer.ask({ query: QUESTION }).then(
        () => true,
        () => false,
      ),
    );
  });

  it("lists a symbol once that several servers know", async () => {
    const same = path.join(path.dirname(corpus), "same-home");
    fs.symlinkSync(home, same);
    const second = vscode.workspace.getConfiguration("adkEvidence", folder(1));
    await second.update("home", same, vscode.ConfigurationTarget.WorkspaceFolder);
    await until("the second folder has a server of its own", 60_000, async () => {
      await hoverText(agentFile(1), AGENT_PLACE);
      return servers().length === 2;
    });
    await until("both servers answer", 60_000, async () => (await hoverText(agentFile(1), AGENT_PLACE)) !== "");
    assert.equal((await workspaceSymbols()).length, 1);
    await second.update("home", undefined, vscode.ConfigurationTarget.WorkspaceFolder);
    await until("one server is left", 60_000, () => servers().length === 1);
  });

  describe("without the server of the settings", () => {
    before(() =>
      configuration().update("server.command", ["/nowhere/adk-evidence"], vscode.ConfigurationTarget.Global),
    );
    after(async () => {
      const command = settings["adkEvidence.server.command"];
      await configuration().update("server.command", command, vscode.ConfigurationTarget.Global);
    });

    it("says so to whoever asks, and its commands stay", async () => {
      await until("the server is gone", 60_000, () => servers().length === 0);
      await assert.rejects(consumer.ask({ query: QUESTION }), { code: "start_failed", message: /\/nowhere\// });
      const { restartServer, showLogs } = BUTTON_COMMANDS;
      for (const command of [COMMANDS.findEvidence, restartServer, showLogs]) {
        await vscode.commands.executeCommand(command);
      }
    });

    it("has a doctor who names what is wrong", async () => {
      await vscode.commands.executeCommand(BUTTON_COMMANDS.runDoctor);
      const uri = vscode.Uri.from({ scheme: "adk-evidence-doctor", path: "/What Is Set Up.md" });
      const report = await vscode.workspace.openTextDocument(uri);
      assert.match(report.getText(), /\/nowhere\/adk-evidence/);
    });
  });

  it("runs the command that connects agents in a terminal, where it asks", async () => {
    const started = new Promise<vscode.TaskProcessStartEvent>((resolve) => {
      const listener = vscode.tasks.onDidStartTaskProcess((event) => {
        listener.dispose();
        resolve(event);
      });
    });
    await vscode.commands.executeCommand(COMMANDS.connectAgents);
    const { execution, processId } = await started;
    assert.ok(processId > 0);
    const { args } = execution.task.execution as vscode.ProcessExecution;
    assert.deepEqual(args.slice(args.indexOf("setup")), ["setup", "--home", home]);
    execution.terminate();
  });

  it("shows hostile texts of the corpora in hovers as text", async () => {
    const names = [...fs.readFileSync(path.join(corpus, "code", HOSTILE), "utf8").matchAll(/^def (hostile_\d+)/gm)];
    assert.ok(names.length >= 50);
    const lines = names.map(([, name]) => `hostile.${name}()`);
    const file = vscode.Uri.joinPath(folder(0), "uses_hostile.py");
    fs.writeFileSync(file.fsPath, `from google.adk import hostile\n${lines.join("\n")}\n`);
    for (let line = 1; line <= lines.length; line++) {
      const hovers = await hoversAt(file, new vscode.Position(line, 12));
      assert.ok(hovers.length > 0, lines[line - 1]);
      for (const content of hovers.flatMap(({ contents }) => contents)) {
        assert.ok(content instanceof vscode.MarkdownString);
        assert.notEqual(content.supportHtml, true);
        assert.deepEqual(content.isTrusted, { enabledCommands: [COMMANDS.findEvidence, LINK_COMMANDS.openCitation] });
        // A link begins with a bracket that nothing escapes, outside of code; the only ones are ours.
        const text = content.value
          .replaceAll(/^(`{3,})[\s\S]*?^\1/gm, "")
          .replaceAll(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "");
        const links = [...text.matchAll(/(?<!\\)\]\((.*?)\)/g)].map(([, target = ""]) => target.split("?")[0]);
        const own = [`command:${LINK_COMMANDS.openCitation}`, `command:${COMMANDS.findEvidence}`];
        assert.deepEqual([...new Set(links)], own, content.value);
      }
    }
  });

  describe("in a workspace of several folders", () => {
    it("uses for each folder of the workspace the interpreter that the folder names", async () => {
      const python = (settings["adkEvidence.server.command"] as string[])[0] ?? "";
      const log = path.join(path.dirname(corpus), "interpreters.log");
      for (const index of [0, 1]) {
        // A Python like the other, but for its name.
        const own = path.join(path.dirname(corpus), `python-${index}`);
        fs.writeFileSync(own, `#!/bin/sh\necho "${index} $*" >> '${log}'\nexec '${python}' "$@"\n`, { mode: 0o755 });
        await vscode.workspace
          .getConfiguration("adkEvidence", folder(index))
          .update("server.interpreter", own, vscode.ConfigurationTarget.WorkspaceFolder);
      }
      await configuration().update("server.command", [], vscode.ConfigurationTarget.Global);
      for (const index of [0, 1]) {
        await vscode.workspace.openTextDocument(agentFile(index));
        await until(`the server of folder ${index} runs`, 60_000, () =>
          new RegExp(`^${index} .*serve lsp`, "m").test(fs.existsSync(log) ? fs.readFileSync(log, "utf8") : ""),
        );
        await until(`folder ${index} has hovers`, 60_000, async () =>
          (await hoverText(agentFile(index), AGENT_PLACE)).includes("class RetryPlugin"),
        );
      }
    });
  });
});
