import * as vscode from "vscode";
import type { Evidence } from "../evidence/client";
import { TASK_MODE } from "../evidence/question";
import { Problem } from "../problem";
import type { EvidenceResult, RenderParams } from "../protocol/generated";
import { paramsOfPrompt, paramsOfRequest } from "./request";
import type { AdkEvidenceApi, EvidencePack } from "./types";

/** What other extensions get; it does not disturb what the user has in front of them. */
export function createApi(evidence: Evidence): AdkEvidenceApi {
  const render = (pack: EvidencePack, how: Omit<RenderParams, "pack">, token?: vscode.CancellationToken) => {
    if (typeof pack !== "object" || pack === null) {
      throw new Problem("The pack must be one that findEvidence gave.", "invalid_request");
    }
    return evidence.render({ pack: asResult(pack), ...how }, token);
  };
  return Object.freeze<AdkEvidenceApi>({
    version: 1,
    async findEvidence(request, token) {
      const scope = request.scope === undefined ? undefined : vscode.Uri.parse(request.scope);
      const params = { taskMode: TASK_MODE, ...paramsOfRequest(request) };
      const { queryUsed: _, ...pack } = await evidence.find(params, token, scope);
      return structuredClone(pack);
    },
    async findSymbol(name, token) {
      return structuredClone(await evidence.symbol({ name }, token));
    },
    async toMarkdown(pack, token) {
      return render(pack, { format: "markdown" }, token);
    },
    async toPrompt(pack, options, token) {
      return render(pack, { format: "prompt", ...paramsOfPrompt(options) }, token);
    },
  });
}

/** The server checks it: a pack may have come a long way. */
function asResult(pack: EvidencePack): EvidenceResult {
  return pack as EvidenceResult;
}
