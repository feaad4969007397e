// A temporary folder in memory for the tests. Qdrant Edge flushes each small collection to the disk many hundred times:
// ingestion tests wait longer for the disk than they compute.

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { isAlive } from "./setup.mjs";

const MEMORY = "/dev/shm";
const PREFIX = "adk-test-";
const NEEDED_GIB = 8;

function hasRoom() {
  const { bavail, bsize } = fs.statfsSync(MEMORY);
  // What lies there is taken from the memory that programs need, too.
  return Math.min(bavail * bsize, os.freemem() / 2) >= NEEDED_GIB * 2 ** 30;
}

// Tests write programs and start them, which a container may forbid there.
function runsPrograms(folder) {
  const program = path.join(folder, "program");
  fs.writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const { status } = spawnSync(program);
  fs.rmSync(program);
  return status === 0;
}

function removeAbandoned() {
  for (const name of fs.readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || isAlive(Number.parseInt(name.slice(PREFIX.length), 10))) continue;
    fs.rmSync(path.join(MEMORY, name), { recursive: true, force: true });
  }
}

/**
 * Runs `action` with a temporary folder in memory as TMPDIR, where the system offers one with 8 GiB to spare and the
 * user has not chosen a folder.
 */
export async function withScratch(action) {
  if (process.env.TMPDIR || !fs.existsSync(MEMORY) || !hasRoom()) return action();
  removeAbandoned();
  const folder = path.join(MEMORY, `${PREFIX}${process.pid}`);
  fs.mkdirSync(folder, { mode: 0o700 });
  try {
    if (runsPrograms(folder)) process.env.TMPDIR = folder;
    return await action();
  } finally {
    delete process.env.TMPDIR;
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
