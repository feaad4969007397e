import { type ChildProcess, execFile, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { until } from "./until";

const START_MS = 90_000;

/** Settings by name. */
export type Settings = Record<string, unknown>;

/** What keeps the editor from showing or fetching things that no test is about. */
const QUIET: Settings = {
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "git.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.restoreWindows": "none",
  "workbench.editor.enablePreview": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/** The value of an environment variable that extension/test/run.mjs sets. */
export function given(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: use \`npm run test:extension\``);
  }
  return value;
}

/** A code-server with folders of its own. It has the VSIX under test, and nothing else unless it is installed. */
export class CodeServer {
  readonly root = fs.mkdtempSync(path.join(os.tmpdir(), "adk-evidence-editor-"));
  private child: ChildProcess | null = null;
  private port = 0;
  private output = "";

  /** Install the VSIX of this run, or another. */
  async install(vsix: string = given("ADK_EVIDENCE_VSIX")): Promise<void> {
    fs.mkdirSync(path.join(this.root, "home"), { recursive: true });
    await promisify(execFile)(
      given("ADK_EVIDENCE_CODE_SERVER_NODE"),
      [given("ADK_EVIDENCE_CODE_SERVER"), ...this.folders(), "--install-extension", vsix],
      { env: this.environment(), timeout: START_MS },
    );
  }

  /** Write the user's settings; `machine` are those that only the settings of the machine may hold. */
  configure(user: Settings, machine: Settings = {}): void {
    writeJson(path.join(this.userData, "User", "settings.json"), { ...QUIET, ...user });
    writeJson(path.join(this.userData, "Machine", "settings.json"), machine);
  }

  /**
   * Start it and wait until it answers. Stop it.
   *
   * @param environment Variables besides those of this process.
   */
  async start(environment: Record<string, string> = {}): Promise<void> {
    this.port = await freePort();
    const child = spawn(
      given("ADK_EVIDENCE_CODE_SERVER_NODE"),
      [
        given("ADK_EVIDENCE_CODE_SERVER"),
        ...this.folders(),
        "--bind-addr",
        this.authority,
        "--auth",
        "none",
        "--disable-telemetry",
        "--disable-update-check",
        "--disable-getting-started-override",
        "--ignore-last-opened",
        "--reconnection-grace-time",
        "2",
        // Without it, a built editor runs no tests.
        "--vscode-option",
        "enable-smoke-test-driver",
      ],
      // A group of its own, with which its children end.
      { env: { ...this.environment(), ...environment }, stdio: ["ignore", "pipe", "pipe"], detached: true },
    );
    this.child = child;
    process.once("exit", this.kill);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
    await until("code-server answers", START_MS, async () => {
      if (child.exitCode !== null) {
        throw new Error(`code-server ended: ${this.output}`);
      }
      const answer = await fetch(`http://${this.authority}/healthz`).catch(() => null);
      return answer?.ok ?? false;
    });
  }

  /** End it with all that it started, and remove its folders. */
  async stop(): Promise<void> {
    const child = this.child;
    if (child !== null && child.exitCode === null) {
      const ended = new Promise((resolve) => child.once("close", resolve));
      this.kill();
      await ended;
    }
    process.removeListener("exit", this.kill);
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Host and port. */
  get authority(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The address at which a folder or a `.code-workspace` file opens. */
  address(workspace: string, payload: [string, string][] = []): string {
    const kind = workspace.endsWith(".code-workspace") ? "workspace" : "folder";
    const query = new URLSearchParams({ [kind]: workspace });
    if (payload.length > 0) {
      query.set("payload", JSON.stringify(payload));
    }
    return `http://${this.authority}/?${query}`;
  }

  /** The logs of the extension hosts and of the extension, and what code-server itself said. */
  logs(): string {
    const folder = path.join(this.userData, "logs");
    const names = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
    const files = names.filter(
      (name) => /(remoteexthost|ADK|adk)[^/]*\.log$/i.test(name) || /adk-evidence.*\.log$/.test(name),
    );
    const parts = files.map((name) => `--- ${name} ---\n${fs.readFileSync(path.join(folder, name), "utf8")}`);
    return [...parts, `--- code-server ---\n${this.output}`].join("\n");
  }

  private get userData(): string {
    return path.join(this.root, "data");
  }

  private folders(): string[] {
    return [
      "--config",
      path.join(this.root, "config.yaml"),
      "--user-data-dir",
      this.userData,
      "--extensions-dir",
      path.join(this.root, "extensions"),
    ];
  }

  private environment(): NodeJS.ProcessEnv {
    const foreign = /^(ADK_EVIDENCE_|VSCODE_|ELECTRON_|NODE_OPTIONS$|VIRTUAL_ENV$|PYTHONPATH$)/;
    const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
    const home = path.join(this.root, "home");
    return {
      // pip keeps its configuration and its cache: this machine may reach its packages by them alone.
      PIP_CACHE_DIR: path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), ".cache"), "pip"),
      ...pipConfiguration(),
      ...own,
      HOME: home,
      XDG_CACHE_HOME: path.join(home, ".cache"),
      XDG_CONFIG_HOME: path.join(home, ".config"),
      XDG_DATA_HOME: path.join(home, ".local", "share"),
      XDG_STATE_HOME: path.join(home, ".local", "state"),
    };
  }

  private readonly kill = (): void => {
    const pid = this.child?.pid;
    if (pid === undefined) {
      return;
    }
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
}

function pipConfiguration(): Record<string, string> {
  const config = process.env.XDG_CONFIG_HOME ?? path.join(os.homedir(), ".config");
  const file = [path.join(config, "pip", "pip.conf"), path.join(os.homedir(), ".pip", "pip.conf")].find(fs.existsSync);
  return file ? { PIP_CONFIG_FILE: file } : {};
}

function writeJson(file: string, value: unknown): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify(value, null, 2));
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject()));
    });
  });
}
