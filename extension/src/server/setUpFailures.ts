/** What can go wrong when the private environment is made, read from what venv, pip and uv print. */

export type SetUpFailure =
  | "cancelled"
  | "no_payload"
  | "no_python"
  | "no_venv"
  | "no_network"
  | "no_package"
  | "disk_full"
  | "not_writable"
  | "not_installed"
  | "failed";

export class SetUpError extends Error {
  constructor(readonly failure: SetUpFailure) {
    super(failure);
    this.name = "SetUpError";
  }
}

/** Why venv failed. */
export function venvFailure(output: string): SetUpFailure {
  if (/ensurepip|No module named '?venv/i.test(output)) {
    return "no_venv";
  }
  return storageFailure(output) ?? "failed";
}

/** Why pip failed. */
export function pipFailure(output: string): SetUpFailure {
  const storage = storageFailure(output);
  if (storage) {
    return storage;
  }
  // pip ends with "no matching distribution" also where it could not reach the index at all.
  if (
    /ConnectionError|NewConnectionError|NameResolutionError|ProxyError|SSLError|Timeout|Network is unreachable/.test(
      output,
    )
  ) {
    return "no_network";
  }
  if (/No matching distribution found|Could not find a version/.test(output)) {
    return "no_package";
  }
  return "failed";
}

/** Host and port of the proxy that the environment names, without its user and password; empty without one. */
export function proxyPlace(env: NodeJS.ProcessEnv): string {
  const named = env.https_proxy || env.HTTPS_PROXY || env.all_proxy || env.ALL_PROXY || "";
  const address = named.includes("://") ? named : `http://${named}`;
  return URL.canParse(address) ? new URL(address).host : "";
}

/** Why uv failed. */
export function uvFailure(output: string): SetUpFailure {
  const storage = storageFailure(output);
  if (storage) {
    return storage;
  }
  if (/error sending request|client error \(Connect\)|dns error|tcp connect error|operation timed out/i.test(output)) {
    return "no_network";
  }
  return /No solution found when resolving/i.test(output) ? "no_package" : "failed";
}

/** Whether the disk is the reason, whatever program failed. */
function storageFailure(output: string): SetUpFailure | undefined {
  if (/No space left on device|Errno 28|not enough space|os error 28|WinError 112/i.test(output)) {
    return "disk_full";
  }
  if (/Permission denied|Errno 13|os error 13\b|WinError 5\b/i.test(output)) {
    return "not_writable";
  }
  return undefined;
}
