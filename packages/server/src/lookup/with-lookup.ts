import { createLookup, createMemoryBlobStore, type Logger, type Lookup } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import type { MailProberOptions } from "@outrigger/verifier";
import { reasonOf } from "../cli/error-reason.ts";
import { note } from "../cli/print.ts";
import { ConfigError } from "../config/config-error.ts";
import { type DataFlags, loadConfig } from "../config/load-config.ts";
import { type ServerSettings, settingsOf } from "../config/settings.ts";
import { openTarget, openVerdictCache } from "../storage/open-storage.ts";
import { noteDatabase } from "./note-database.ts";
import { type LookupData, openLookupData, type WithLookup } from "./open-lookup-data.ts";
import { requireLookup } from "./require-lookup.ts";

/** The open data and services of a lookup command. */
export interface LookupTools extends LookupData {
  lookup: Lookup;
  settings: WithLookup["lookup"];
}

/**
 * Runs `work` on the lookup data that a server with this configuration serves. The server may be running.
 * @param mayMake Whether a missing database is made; `false` for commands that add nothing to a new one.
 * @param isProbing Whether the lookup asks mail servers and knows lists of mail domains, as the server's does.
 * @throws ConfigError, and StartError if the database is missing.
 */
export async function withLookup(
  flags: DataFlags,
  mayMake: boolean,
  work: (tools: LookupTools) => Promise<void>,
  { isProbing = false } = {},
): Promise<void> {
  const config = await loadConfig(flags, process.env);
  const settings = withDatabase(settingsOf({ ...config, lookup: config.lookup || {} }));
  requireLookup(settings, mayMake);
  const records = await openRecords(settings);
  try {
    const data = await openLookupData(settings, records, mayMake);
    noteDatabase(settings.lookup.database, data.isNew);
    const tell = (error: unknown) => note(reasonOf(error));
    const cache = (await openVerdictCache(settings.storage, tell)) ?? undefined;
    const { contacts, accounts, suppressionList, secrets } = data;
    const mail = isProbing ? await openMail(settings, data, cache, tell) : {};
    const lookup = createLookup({
      ...mail,
      contacts,
      accounts,
      suppressions: suppressionList,
      secret: secrets,
      // Entries evicted here are evicted for all servers that share the cache.
      cache,
      onError: tell,
      logger: auditLog,
    });
    try {
      await work({ ...data, lookup, settings: settings.lookup });
    } finally {
      await lookup.close();
      await cache?.disconnect();
      await data.close();
    }
  } finally {
    await records.close();
  }
}

/** The prober of the configuration, and the lists of mail domains. */
async function openMail(
  { lookup: { smtp, dnsServers } }: WithLookup,
  { keys: [{ proberSecret: secret }] }: LookupData,
  cache: MailProberOptions["cache"],
  onError: (error: unknown) => void,
) {
  const { createMailLists, createMailProber } = await import("@outrigger/verifier");
  return {
    prober: createMailProber({ smtp, dnsServers, cache, secret, onError }),
    lists: createMailLists(),
  };
}

const toStandardError = (fields: object, message: string) => {
  process.stderr.write(`${JSON.stringify({ ...fields, msg: message })}\n`);
};

/** Writes the lines about erasures, and would write other ones alike. */
const auditLog: Logger = { info: toStandardError, warn: toStandardError, error: toStandardError };

function withDatabase(settings: ServerSettings): ServerSettings & WithLookup {
  const { lookup } = settings;
  if (lookup === false) throw new ConfigError("The configuration", ["lookup: must be an object"]);
  return { ...settings, lookup };
}

/** Only a directory keeps a secret, so other stores are not opened, nor one without need. */
async function openRecords({ storage, secret, lookup }: ServerSettings & WithLookup): Promise<BlobStore> {
  const configured = lookup.secret ?? secret;
  if (configured !== undefined || storage.records.kind !== "file") return createMemoryBlobStore();
  return (await openTarget({ target: storage.records, roles: ["records"] })).store;
}
