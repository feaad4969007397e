/** Checks values from elsewhere against the protocol's JSON schema, as far as that schema uses JSON Schema. */

import type * as generated from "./generated";
import { $defs as definitions } from "./schema.json";

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

/** Longest question that the server takes; only one with a traceback may be so long. */
export const MAX_QUERY = limitOf("EvidenceParams", "query", "maxLength");
/** Longest text that symbols are searched with. */
export const MAX_SYMBOL_QUERY = limitOf("TargetsParams", "query", "maxLength");
/** Longest path filter that the page sends. */
export const MAX_PATH = limitOf("Question", "path", "maxLength");
/** Questions that a session remembers. */
export const MAX_HISTORY = limitOf("ViewState", "history", "maxItems");

/** Whether a pack can be shown: its parts have the form that they should have, whatever words newer servers use. */
export const isPack = checkOf<generated.EvidenceResult>("EvidenceResult");
export const isCheckResult = checkOf<generated.CheckResult>("CheckResult");
export const isCodeCheck = checkOf<generated.CodeCheck>("CodeCheck");
/** Whether the page sent it; nothing that comes from the page is believed unseen. */
export const isFromPage = checkOf<generated.FromPage>("FromPage");
/** Whether the extension sent it to the page. */
export const isToPage = checkOf<generated.ToPage>("ToPage");
/** Whether this version of the page saved it. */
export const isSavedState = checkOf<generated.SavedState>("SavedState");
export const isTaskMode = checkOf<generated.TaskMode>("TaskMode");
export const isAnswerFacts = checkOf<generated.AnswerFacts>("AnswerFacts");
export const isFindArguments = checkOf<generated.FindArguments>("FindArguments");
export const isOpenArguments = checkOf<generated.OpenArguments>("OpenArguments");
export const isSourceFile = checkOf<generated.SourceFile>("SourceFile");
export const isTexts = checkOf<Record<string, string>>("Texts");
export const isNumbers = checkOf<Record<string, number>>("Numbers");

function checkOf<T>(name: keyof typeof definitions): (value: unknown) => value is T {
  const schema: Schema = { $ref: `#/$defs/${name}` };
  return (value): value is T => accepts(schema, value);
}

function limitOf(name: keyof typeof definitions, member: string, keyword: "maxLength" | "maxItems"): number {
  const schema = (definitions[name] as Schema).properties?.[member];
  // Members that may be null list their own type first.
  return (schema?.anyOf?.[0] ?? schema)?.[keyword] ?? Number.POSITIVE_INFINITY;
}

function accepts(schema: Schema, value: unknown): boolean {
  return (
    (schema.$ref === undefined || accepts(resolved(schema.$ref), value)) &&
    (schema.type === undefined || isOf(schema.type, value)) &&
    (schema.enum?.includes(value) ?? true) &&
    (schema.const === undefined || schema.const === value) &&
    (schema.anyOf?.some((one) => accepts(one, value)) ?? true) &&
    (schema.allOf?.every((one) => accepts(one, value)) ?? true) &&
    (typeof value !== "number" || isWithin(value, schema.minimum, schema.maximum)) &&
    (typeof value !== "string" || acceptsText(schema, value)) &&
    (!Array.isArray(value) || acceptsList(schema, value)) &&
    (!isObject(value) || acceptsObject(schema, value))
  );
}

/** The part of the schema that a reference such as `#/$defs/Name/properties/member` points to. */
function resolved(reference: string): Schema {
  const [, , ...steps] = reference.split("/");
  return steps.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], definitions) as Schema;
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function acceptsText({ minLength, maxLength, pattern, format }: Schema, text: string): boolean {
  return (
    isWithin(text.length, minLength, maxLength) &&
    (pattern === undefined || new RegExp(pattern, "u").test(text)) &&
    (format !== "word" || isWord(text))
  );
}

/** A word of a list that newer servers may extend; views show an unfamiliar word as "unknown". */
function isWord(text: string): boolean {
  // A word such as `constructor` would find in every table what all objects have.
  return /^[a-z0-9_-]{1,40}$/i.test(text) && !(text in Object.prototype);
}

function acceptsList({ items, minItems, maxItems }: Schema, list: unknown[]): boolean {
  return isWithin(list.length, minItems, maxItems) && (items === undefined || list.every((one) => accepts(items, one)));
}

/** Only an object's own members count, and a member that is undefined is missing. */
function acceptsObject({ properties = {}, required, additionalProperties: others }: Schema, object: object): boolean {
  const members = new Map<string, unknown>(Object.entries(object).filter(([, value]) => value !== undefined));
  return (
    (required?.every((name) => members.has(name)) ?? true) &&
    [...members].every(([name, value]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : others;
      return typeof schema === "object" ? accepts(schema, value) : schema !== false;
    })
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWithin(size: number, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): boolean {
  return size >= least && size <= most;
}
