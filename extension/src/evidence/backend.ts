import type { CancellationToken, Uri } from "vscode";
import type { Method, Params, Result } from "../protocol/requests";

/** Answers the server's requests; a server starts when it is first needed. */
export interface Backend {
  /**
   * @param scope The document or folder of the request: folders may have different servers.
   * @throws Problem for every failure: no environment, no index, a crash, a cancellation (`cancelled`), ...
   */
  request<M extends Method>(method: M, params: Params<M>, token?: CancellationToken, scope?: Uri): Promise<Result<M>>;
}
