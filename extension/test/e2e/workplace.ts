import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Settings } from "./codeServer";

const VENV_PYTHON = path.join(process.cwd(), ".venv", "bin", "python");
const SCRIPTS = path.join(process.cwd(), "extension", "test", "e2e");

/** A Python file that uses the small corpus; tests refer to its lines. */
export const AGENT_FILE = `from google.adk.agents import LlmAgent
from google.adk.plugins.retry import RetryPlugin
from google.adk.runners import Runner

# How do I retry a tool that throws?
plugin = RetryPlugin(max_retries=3)
agent = LlmAgent()
runner = Runner(agent, plugins=[plugin])
`;

/** A file of dependencies with which a folder uses the ADK, in no version that a server would look for. */
export const REQUIREMENTS = "google-adk @ git+https://github.com/google/adk-python.git\n";

/** The word of the hostile pages. */
export const HOSTILE_WORD = "zzhostile";

/** The word of the page with texts that talk to a model. */
export const INJECTION_WORD = "zzinjection";

/** Two small corpora with their index, and a folder to open in the editor. */
export interface Workplace {
  /** The home folder with the index. */
  home: string;
  /** Texts of the corpora that try to be more than text; a question with `HOSTILE_WORD` finds them. */
  hostile: string[];
  /** Texts of the corpora that try to be instructions; a question with `INJECTION_WORD` finds them. */
  injections: string[];
  /** A folder with `agent.py` and `requirements.txt`. */
  workspace: string;
  /** Settings with which the server of the tests is started on it. */
  machineSettings: Settings;
}

/** Make a workplace below a folder. */
export function makeWorkplace(root: string): Workplace {
  const corpus = path.join(root, "corpus");
  execFileSync(VENV_PYTHON, [path.join(SCRIPTS, "workplace.py"), corpus], { stdio: ["ignore", "ignore", "inherit"] });
  const home = path.join(corpus, "home");
  const workspace = path.join(root, "workspace");
  fs.mkdirSync(workspace, { recursive: true });
  fs.writeFileSync(path.join(workspace, "agent.py"), AGENT_FILE);
  fs.writeFileSync(path.join(workspace, "requirements.txt"), REQUIREMENTS);
  return {
    home,
    hostile: JSON.parse(fs.readFileSync(path.join(corpus, "hostile.json"), "utf8")),
    injections: JSON.parse(fs.readFileSync(path.join(corpus, "injections.json"), "utf8")),
    workspace,
    machineSettings: {
      "adkEvidence.home": home,
      "adkEvidence.server.command": [VENV_PYTHON, path.join(SCRIPTS, "server.py"), corpus, "serve", "lsp"],
    },
  };
}

/** Where the section of the docs about RetryPlugin is published. */
export const RETRY_GUIDE_URL = "https://docs.example.org/tools/retry/#use-the-retryplugin";
