import { createReadStream } from "node:fs";
import { isServiceError } from "@outrigger/core";
import { type ContactSource, hashApiKey, type MailProber, type ProbeResult } from "@outrigger/core/lookup";
import { importContacts } from "@outrigger/sql";
import type { LookupData } from "./open-lookup-data.ts";

/** People from the history of computing in invented roles, and departments. Found from `src` and from `dist`. */
const CONTACTS = new URL("../../src/lookup/samples.ndjson", import.meta.url);
/** Domains of the contacts; they are reserved (RFC 2606). */
const DOMAINS: readonly string[] = ["example.com", "example.org"];
/** The account that owns the sample key. */
const ACCOUNT = "sample";
const HINT_LENGTH = 6;
const UNASKED: ProbeResult = {
  routing: "found",
  server: true,
  mailbox: null,
  acceptsAll: null,
  reason: "not_probed",
  retryAfterMs: null,
};

/**
 * Adds sample contacts and an account with a key to a new database. Completes an interrupted run. Does not restore removed
 * contacts or revoked keys.
 * @returns The key, which is derived from the secret of the samples and never stored. `null` if the database has other contacts
 * or accounts, or the key was revoked.
 */
export async function seedSamples(data: LookupData): Promise<string | null> {
  const { accounts, database, keys } = data;
  if ((await accounts.get(ACCOUNT)) === null) {
    if (!(await isNew(data))) return null;
    await accounts.create({
      id: ACCOUNT,
      email: "sample@example.com",
      firstName: "Sample",
      lastName: null,
      plan: "free",
      createdAt: Date.now(),
    });
  }
  // The key is added last: if it exists, the samples are complete.
  if ((await accounts.keys(ACCOUNT)).length === 0) {
    await importContacts(database, createReadStream(CONTACTS), { format: "ndjson" });
    const [{ sampleKey }] = keys;
    const key = { hint: sampleKey.slice(0, HINT_LENGTH), createdAt: Date.now(), revokedAt: null };
    await accounts.addKey(ACCOUNT, hashApiKey(sampleKey), key).catch((error) => {
      // Another process added the same key at the same time.
      if (!isServiceError(error, "conflict")) throw error;
    });
  }
  for (const { sampleKey } of keys) {
    if ((await accounts.findByKey(hashApiKey(sampleKey))) !== null) return sampleKey;
  }
  return null;
}

async function isNew({ accounts, contacts, suppressions }: LookupData): Promise<boolean> {
  if ((await accounts.list({ limit: 1 })).length > 0) return false;
  if (!(await suppressions.isUnused())) return false;
  const known = DOMAINS.map((domain) => contacts.domain(domain));
  return (await Promise.all(known)).every((domain) => domain === null);
}

/**
 * Answers probes of the sample domains, which receive no mail: mailboxes of sample contacts exist, others are unknown.
 * Passes all other probes to `prober`.
 */
export function createSampleProber(prober: MailProber, contacts: ContactSource): MailProber {
  return {
    async probe(local, domain, options) {
      if (!DOMAINS.includes(domain)) return prober.probe(local, domain, options);
      const isKnown = (await contacts.find(`${local}@${domain}`.toLowerCase())) !== null;
      return isKnown ? { ...UNASKED, mailbox: true, acceptsAll: false, reason: null } : UNASKED;
    },
    close: () => prober.close(),
  };
}
