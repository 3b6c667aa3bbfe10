import { randomBytes } from "node:crypto";
import type { Secret } from "@outrigger/core";
import { ConfigError } from "../config/config-error.ts";
import type { ServerSettings } from "../config/settings.ts";
import { describeTarget } from "../config/targets/describe-storage.ts";

/** The remedy for a missing secret. */
export const SET_SECRET =
  "Set secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes";

/**
 * The secrets from which PINs are derived.
 * @returns `undefined` if the store of the records keeps a secret.
 * @throws ConfigError if there is no secret.
 */
export function chooseSecret({ secret, storage }: ServerSettings): Secret | undefined {
  const { records } = storage;
  if (secret !== undefined) return secret;
  if (records.kind === "file") return undefined;
  // The images end with the process, so the secret may too.
  if (records.kind === "memory") return randomBytes(32).toString("base64url");
  throw new ConfigError("The configuration", [
    `secret: must be set, since ${describeTarget(records)} cannot keep one. ${SET_SECRET}`,
  ]);
}
