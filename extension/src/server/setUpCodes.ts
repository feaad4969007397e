/** Codes of problems by what ends them. */

/**
 * `packages`: installing packages for the first time or after an update of the extension. `repair`: installing packages
 * anew. `server`: a server that is ready. `index`: a first index. `ingestion`: another ingestion.
 */
type End = "packages" | "repair" | "server" | "index" | "ingestion";

/** A server that ended during an answer (`server_ended`) may do so again: nothing ends that problem. */
const ENDED_BY: Readonly<Record<string, End>> = {
  no_environment: "packages",
  environment_outdated: "packages",
  environment_broken: "repair",
  bad_interpreter: "server",
  package_missing: "server",
  package_incompatible: "server",
  start_failed: "server",
  server_crashed: "server",
  no_index: "index",
  index_mismatch: "ingestion",
};

function endedBy(...ends: readonly End[]): readonly string[] {
  return Object.keys(ENDED_BY).filter((code) => ends.some((end) => end === ENDED_BY[code]));
}

/** Nothing is set up yet, or not for this version of the extension. */
export const NOT_SET_UP = endedBy("packages");
/** Packages must be installed before a server can start. */
export const WITHOUT_PACKAGES = endedBy("packages", "repair");
/** Problems that are gone once a server is ready. */
export const UNTIL_READY = endedBy("packages", "repair", "server");
/** Problems that are gone once an ingestion has ended. */
export const UNTIL_INGESTED = endedBy("index", "ingestion");
/** Problems that "Get Started" mends. */
export const MENDED_BY_SETTING_UP = endedBy("packages", "index");
