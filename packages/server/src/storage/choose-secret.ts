import { randomBytes } from "node:crypto";
import type { Secret } from "@outrigger/core";
import { StartError } from "../config/config-error.ts";
import { secretsOf } from "../config/secret-text.ts";
import type { ServerSettings } from "../config/settings.ts";
import { describeTarget } from "../config/targets/describe-storage.ts";

/** What to do where there is no secret. */
export const SET_SECRET =
  "Set secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes";

/**
 * What PINs are derived from.
 * @returns `undefined` where the store of the records keeps one itself.
 * @throws StartError where there is none.
 */
export function chooseSecret({ secret, storage }: ServerSettings): Secret | undefined {
  const { records } = storage;
  if (secret !== undefined) return secretsOf(secret);
  if (records.kind === "file") return undefined;
  // The images do not outlive the process either.
  if (records.kind === "memory") return randomBytes(32).toString("base64url");
  throw new StartError(
    `There is no secret for PINs, and ${describeTarget(records)} keeps none. ${SET_SECRET}`,
  );
}
