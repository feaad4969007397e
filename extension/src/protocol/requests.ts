/** The server's own requests: their methods, each with its parameters' and its result's type. */

import type {
  CheckCodeParams,
  CheckParams,
  CheckResult,
  CodeCheck,
  EvidenceParams,
  EvidenceResult,
  IndexParams,
  IndexResult,
  IngestParams,
  IngestResult,
  RenderParams,
  RenderResult,
  ServerStatus,
  SourceParams,
  SourceResult,
  StatusParams,
  SymbolParams,
  SymbolResult,
  TargetAnswer,
  TargetsParams,
} from "./generated";

export interface Requests {
  "adk/evidence": [EvidenceParams, EvidenceResult];
  "adk/symbol": [SymbolParams, SymbolResult | null];
  "adk/targets": [TargetsParams, TargetAnswer];
  "adk/source": [SourceParams, SourceResult];
  "adk/status": [StatusParams, ServerStatus];
  "adk/ingest": [IngestParams, IngestResult];
  "adk/index": [IndexParams, IndexResult];
  "adk/render": [RenderParams, RenderResult];
  "adk/check": [CheckParams, CheckResult];
  "adk/checkCode": [CheckCodeParams, CodeCheck | null];
}

export type Method = keyof Requests;
export type Params<M extends Method> = Requests[M][0];
export type Result<M extends Method> = Requests[M][1];
