import type { LookupClient } from "@outrigger/client";
import { lookupClientAt } from "../clients.ts";
import { serviceUrlOf } from "../service-url.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { readApiKey } from "./api-key.ts";

/** The options that say which lookup is asked, as they were typed. */
export interface LookupFlags {
  to?: string;
  keyFile?: string;
  json?: boolean;
}

/** A lookup that is asked until somebody presses Ctrl-C. */
export interface AskedLookup {
  client: LookupClient;
  baseUrl: string;
  signal: AbortSignal;
}

/** Runs `work` with a client of the lookup that the flags and the environment name. @throws ConfigError */
export async function withRemoteLookup(
  { to, keyFile }: LookupFlags,
  work: (lookup: AskedLookup) => Promise<void>,
): Promise<void> {
  const baseUrl = serviceUrlOf(to);
  const client = lookupClientAt(baseUrl, await readApiKey(keyFile));
  await untilInterrupted((signal) => work({ client, baseUrl, signal }));
}
