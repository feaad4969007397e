/** What a function takes of this process's processor time, in milliseconds; what else runs on the machine adds nothing. */
export function cpuMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
