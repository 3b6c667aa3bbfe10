import { ServiceError } from "@outrigger/core";
import type { MailProber } from "@outrigger/core/lookup";
import { abortable } from "@outrigger/core/stores";
import { MailProbe } from "./probe.ts";
import { NOTHING } from "./probe-results.ts";
import { type MailProberOptions, type ProberSettings, readProberOptions } from "./prober-options.ts";
import { checkMailbox } from "./smtp/smtp-command.ts";

/** A {@link MailProber} that remembers greylisted questions, and for an hour accepted mailboxes. */
export interface VerifyingProber extends MailProber {
  /** Deletes what is remembered of an address. Rejects if the cache fails. */
  forget(local: string, domain: string): Promise<void>;
}

/**
 * A prober that queries the DNS, and with `smtp` also the mail hosts, for whether an address accepts mail. It
 * never sends mail.
 *
 * Throws a `TypeError` for invalid options. `probe` rejects with a `TypeError` for a local part or domain that
 * cannot be part of a command, and with `store_unavailable` if the prober is closed. Every other failure is a
 * result.
 */
export function createMailProber(options: MailProberOptions = {}): VerifyingProber {
  return createProber(readProberOptions(options));
}

/** A prober with these settings. */
export function createProber(settings: ProberSettings): VerifyingProber {
  const probe = new MailProbe(settings);
  const running = new Map<Promise<unknown>, AbortController>();
  let isClosed = false;

  return {
    async probe(local, domain, { smtp, signal, account = "", onWait = () => undefined, mayAsk }) {
      checkMailbox(local, domain);
      if (isClosed) throw new ServiceError("store_unavailable", "The mail prober is closed.");
      let found = NOTHING;
      if (signal.aborted) return { ...found, reason: "timeout" };
      // Not the caller's: an abort after the result would cut the connection off before its goodbye.
      const controller = new AbortController();
      const abort = () => controller.abort();
      signal.addEventListener("abort", abort);
      const work = probe.run({
        local,
        domain,
        asksHosts: smtp,
        account,
        signal: controller.signal,
        onWait,
        mayAsk,
        report: (result) => {
          found = result;
        },
      });
      running.set(work, controller);
      void Promise.allSettled([work]).then(() => running.delete(work));
      try {
        return await abortable(work, controller.signal);
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        return { ...found, reason: "timeout" };
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    forget: (local, domain) => probe.forget(local, domain),
    async close() {
      isClosed = true;
      for (const controller of running.values()) controller.abort();
      // A probe adds its connection until it has ended.
      await Promise.allSettled(running.keys());
      await probe.close();
    },
  };
}
