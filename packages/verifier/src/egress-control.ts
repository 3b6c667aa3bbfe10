import { isForbidden } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import { DnsLookup } from "./dns/dns-lookup.ts";
import type { MailRoute } from "./dns/mail-route.ts";
import { isSilence } from "./egress-watch.ts";
import type { ProberSettings } from "./prober-options.ts";
import { openSmtpConnection } from "./smtp/smtp-connection.ts";
import { DialogueError } from "./smtp/smtp-reply.ts";

/** Maximum number of addresses that are tried, all at once. */
const MAX_HOSTS = 4;

/**
 * The control host of an `EgressWatch`: the MX of our own `mailFrom` domain, because its operator wants mail there.
 * Returns whether all its addresses keep silent; `false` without an MX, or if every address is forbidden.
 */
export function createEgressControl(
  settings: ProberSettings,
  findRoute: (domain: string, signal: AbortSignal) => Promise<MailRoute>,
): (signal: AbortSignal) => Promise<boolean> {
  const [, domain] = settings.smtp?.mailFrom.toLowerCase().split("@") ?? [];

  async function hasMx(name: string): Promise<boolean> {
    const lookup = new DnsLookup(settings);
    try {
      return (await lookup.mx(name)).state === "found";
    } finally {
      lookup.cancel();
    }
  }

  async function staysSilent(name: string, address: string, signal: AbortSignal): Promise<boolean | null> {
    const { port, connectMs, replyMs, connect } = settings;
    try {
      const connection = await openSmtpConnection({
        name,
        address,
        port,
        connectMs,
        replyMs,
        connect,
        signal,
      });
      // The host need not be ready to talk: the connection is proof enough.
      void connection.greeting().then(
        () => connection.quit(),
        () => connection.destroy(),
      );
      return false;
    } catch (error) {
      if (signal.aborted) return null;
      return isSilence(error instanceof DialogueError ? "ETIMEDOUT" : systemCode(error));
    }
  }

  return async (signal) => {
    // Without MX, the domain's own host need not accept mail.
    if (domain === undefined || !(await hasMx(domain))) return false;
    const route = await findRoute(domain, signal);
    if (route.routing !== "found") return false;
    const hosts = route.hosts
      .flatMap(({ name, addresses }) => addresses.map((address) => ({ name, address })))
      .filter(({ address }) => !isForbidden(settings.forbidden, address));
    const answers = await Promise.all(
      hosts.slice(0, MAX_HOSTS).map(({ name, address }) => staysSilent(name, address, signal)),
    );
    return answers.includes(true) && !answers.includes(false);
  };
}
