import type { CancellationToken, Uri } from "vscode";
import type { Backend } from "../../../src/evidence/backend";
import type { Method, Params, Result } from "../../../src/protocol/requests";

export interface Asked {
  method: Method;
  params: unknown;
  token: CancellationToken | undefined;
  scope: Uri | undefined;
}

type Answers = { [M in Method]?: (params: Params<M>, token?: CancellationToken) => Result<M> | Promise<Result<M>> };

/** Answers as a test says, and remembers what it was asked. */
export class FakeBackend implements Backend {
  readonly asked: Asked[] = [];

  constructor(private readonly answers: Answers) {}

  async request<M extends Method>(
    method: M,
    params: Params<M>,
    token?: CancellationToken,
    scope?: Uri,
  ): Promise<Result<M>> {
    this.asked.push({ method, params, token, scope });
    const answer = this.answers[method];
    if (answer === undefined) {
      throw new Error(`${method} was not expected`);
    }
    return answer(params, token);
  }
}
