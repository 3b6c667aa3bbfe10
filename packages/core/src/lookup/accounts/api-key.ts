import { createHash, randomBytes } from "node:crypto";
import type { Call } from "../../contracts/call.ts";
import type { Query } from "../http/query.ts";

/** Answers fixed data, uncounted. */
export const TEST_KEY = "test-api-key";

const HINT_LENGTH = 6;

/** 160 random bits, as 40 hexadecimal digits. */
export function newApiKey(): { key: string; hash: string; hint: string } {
  const key = randomBytes(20).toString("hex");
  return { key, hash: hashApiKey(key), hint: key.slice(0, HINT_LENGTH) };
}

/** What is stored of a key. It is as long as it is random, so that no slow hash is needed. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("base64url");
}

/** The key that came with a request: in the query, as `X-API-KEY`, or as `Authorization: Bearer`; `null` without. */
export function apiKeyOf({ headers }: Call, query: Query): string | null {
  const given = query.text("api_key");
  if (given !== null) return given;
  const header = headers["x-api-key"];
  if (typeof header === "string" && header !== "") return header;
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
