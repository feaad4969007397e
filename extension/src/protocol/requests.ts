/** The server's own requests: their methods, each with its parameters' and its result's type. */

import type * as generated from "./generated";

export interface Requests {
  "adk/evidence": [generated.EvidenceParams, generated.EvidenceResult];
  "adk/symbol": [generated.SymbolParams, generated.SymbolResult | null];
  "adk/targets": [generated.TargetsParams, generated.TargetAnswer];
  "adk/source": [generated.SourceParams, generated.SourceResult];
  "adk/status": [generated.StatusParams, generated.ServerStatus];
  "adk/ingest": [generated.IngestParams, generated.IngestResult];
  "adk/index": [generated.IndexParams, generated.IndexResult];
  "adk/render": [generated.RenderParams, generated.RenderResult];
  "adk/check": [generated.CheckParams, generated.CheckResult];
  "adk/checkCode": [generated.CheckCodeParams, generated.CodeCheck | null];
}

export type Method = keyof Requests;
export type Params<M extends Method> = Requests[M][0];
export type Result<M extends Method> = Requests[M][1];
