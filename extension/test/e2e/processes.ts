import fs from "node:fs";

/** The processes whose command line has all these parts. */
export function processesWith(...parts: string[]): number[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      const line = commandLine(name);
      return parts.every((part) => line.includes(part));
    })
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}
