import type { ContactSource, MailProber, ProbeResult } from "@outrigger/core";
import { SAMPLE_ORGANIZATIONS } from "./sample-contacts.ts";

const UNASKED: ProbeResult = {
  routing: "found",
  server: true,
  mailbox: null,
  acceptsAll: null,
  reason: "not_probed",
  retryAfterMs: null,
};

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
