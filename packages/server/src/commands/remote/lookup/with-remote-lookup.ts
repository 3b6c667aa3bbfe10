import { readFile } from "node:fs/promises";
import type { LookupClient } from "@outrigger/client";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { lookupClientAt } from "../clients.ts";
import { serviceUrlOf } from "../service-url.ts";
import { untilInterrupted } from "../until-interrupted.ts";

const VARIABLE = "OUTRIGGER_API_KEY";
/** The characters that a header can carry. */
const KEY = /^[!-~]+$/;

/** The options that locate the lookup, as typed. */
export interface LookupFlags {
  to?: string;
  keyFile?: string;
  json?: boolean;
}

/** A client of a lookup whose requests end on Ctrl-C. */
export interface AskedLookup {
  client: LookupClient;
  baseUrl: string;
  signal: AbortSignal;
}

/** Runs `work` with a client of the lookup given by the flags and the environment. @throws ConfigError */
export async function withRemoteLookup(
  { to, keyFile }: LookupFlags,
  work: (lookup: AskedLookup) => Promise<void>,
): Promise<void> {
  const baseUrl = serviceUrlOf(to);
  const client = lookupClientAt(baseUrl, await readApiKey(keyFile));
  await untilInterrupted((signal) => work({ client, baseUrl, signal }));
}

/**
 * The key to the lookup: the first line of a file, otherwise from the environment.
 * @throws ConfigError for a missing or invalid key, which is not quoted.
 */
export async function readApiKey(
  file: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  if (file === undefined) {
    return checkedKey(
      environment[VARIABLE] ?? "",
      `${VARIABLE}: must be a key; or set --key-file to a file with a key`,
    );
  }
  const text = await readFile(file, "utf8").catch((cause) => {
    throw keyProblem(`--key-file: ${printable(file)} cannot be read: ${fileReasonOf(cause)}`);
  });
  return checkedKey(
    text.split("\n", 1)[0] ?? "",
    `--key-file: ${printable(file)} has no key in its first line`,
  );
}

function checkedKey(text: string, otherwise: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  throw keyProblem(otherwise);
}

function keyProblem(what: string): ConfigError {
  return new ConfigError("The key to the lookup", [what]);
}
