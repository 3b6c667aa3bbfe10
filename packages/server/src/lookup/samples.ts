import { type ContactSource, isServiceError, type MailProber, type ProbeResult } from "@outrigger/core";
import { hashApiKey } from "@outrigger/core/lookup";
import { putContacts } from "@outrigger/sql";
import type { LookupData } from "./open-lookup-data.ts";
import { SAMPLE_ORGANIZATIONS, sampleContacts } from "./sample-contacts.ts";

/** Whose the sample key is. */
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
 * Puts sample contacts, and an account with a key, into a new database. A run that was interrupted is completed; removed
 * contacts and revoked keys stay away.
 * @returns the key, derived from the secret that the samples were made with so that it is kept nowhere; `null` where the database
 * has contacts or accounts of its own, or the key was revoked.
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
  // The key comes last: with it, everything is there.
  if ((await accounts.keys(ACCOUNT)).length === 0) {
    await putContacts(database, sampleContacts(), { organizations: SAMPLE_ORGANIZATIONS });
    const [{ sampleKey }] = keys;
    const key = { hint: sampleKey.slice(0, HINT_LENGTH), createdAt: Date.now(), revokedAt: null };
    await accounts.addKey(ACCOUNT, hashApiKey(sampleKey), key).catch((error) => {
      // Another process has put the same in at the same time.
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
  const known = Object.keys(SAMPLE_ORGANIZATIONS).map((domain) => contacts.domain(domain));
  return (await Promise.all(known)).every((domain) => domain === null);
}

/**
 * Answers for the sample domains, which take no mail: the mailboxes of sample contacts exist, and of others nothing is known.
 * Everything else goes to `prober`.
 */
export function createSampleProber(prober: MailProber, contacts: ContactSource): MailProber {
  return {
    async probe(local, domain, options) {
      if (!Object.hasOwn(SAMPLE_ORGANIZATIONS, domain)) return prober.probe(local, domain, options);
      const isKnown = (await contacts.find(`${local}@${domain}`.toLowerCase())) !== null;
      return isKnown ? { ...UNASKED, mailbox: true, acceptsAll: false, reason: null } : UNASKED;
    },
    close: () => prober.close(),
  };
}
