import assert from "node:assert/strict";
import type { BlockList } from "node:net";
import { specialAddresses } from "@outrigger/core/stores";
import { afterEach, beforeEach } from "vitest";
import { type DnsEntry, type DnsServer, startDnsServer } from "../../../test/support/dns-server.ts";
import {
  type HostileMailServer,
  type Peer,
  startHostileMailServer,
} from "../../../test/support/hostile-mail-server.ts";
import {
  type MailServer,
  type MailServerOptions,
  startMailServer,
} from "../../../test/support/mail-server.ts";
import { createProber, type VerifyingProber } from "../src/mail-prober.ts";
import {
  type HostBudget,
  type MailProberOptions,
  type ProberLimits,
  readProberOptions,
} from "../src/prober-options.ts";

export const IDENTITY = { helo: "probe.outrigger.test", mailFrom: "postmaster@outrigger.test" };

/** Options of a prober, and the limits that no operator sets. */
export type TestProberOptions = MailProberOptions &
  Partial<Omit<ProberLimits, "budget">> & { budget?: Partial<HostBudget> };

/** A name server, mail servers on one port of different loopback addresses, and probers that use them. */
export interface MailWorld {
  dns: DnsServer;
  /** Port of all mail servers. */
  port(): number;
  mailServer(options?: MailServerOptions): Promise<MailServer>;
  /** A mail server that is the mail host of a domain. */
  serve(domain: string, options?: MailServerOptions): Promise<MailServer>;
  hostileServer(
    script: (peer: Peer, connection: number) => void | Promise<void>,
    host?: string,
  ): Promise<HostileMailServer>;
  prober(options?: TestProberOptions): VerifyingProber;
  /** Makes the servers at these addresses the mail hosts of a domain, in this order of preference. */
  route(domain: string, ...addresses: string[]): void;
  /** Closes everything. Throws if a server received anything but the permitted commands. */
  close(): Promise<void>;
}

/** The world of the test that runs, of a file that calls {@link useMailWorld}. */
export let world: MailWorld;

/** Gives each test of a file a {@link world} of its own. */
export function useMailWorld(): void {
  beforeEach(async () => {
    world = await createMailWorld();
  });
  afterEach(() => world.close());
}

/** The commands that may be sent, as whole lines. */
const PERMITTED =
  /^(?:(?:EHLO|HELO) probe\.outrigger\.test|STARTTLS|MAIL FROM:<(?:postmaster@outrigger\.test)?>(?: SMTPUTF8)?|RCPT TO:<[^\0-\x20<>]+@[a-z0-9.-]+>|RSET|QUIT)$/;

export async function createMailWorld(zone: Record<string, DnsEntry> = {}): Promise<MailWorld> {
  const dns = await startDnsServer(zone);
  const servers: (MailServer | HostileMailServer)[] = [];
  const probers: VerifyingProber[] = [];
  let port = 0;

  async function add<T extends MailServer | HostileMailServer>(server: T): Promise<T> {
    servers.push(server);
    port = server.port;
    return server;
  }

  const mailServer = async (options: MailServerOptions = {}) =>
    await add(await startMailServer({ port, ...options }));
  function route(domain: string, ...addresses: string[]): void {
    const names = addresses.map((_, index) => `mx${index}.${domain}`);
    dns.zone[domain] = { MX: names.map((name, index) => [10 * (index + 1), name] as const) };
    for (const [index, name] of names.entries()) dns.zone[name] = { A: [addresses[index] ?? ""] };
  }

  return {
    dns,
    port: () => port,
    mailServer,
    async serve(domain, options) {
      const server = await mailServer(options);
      route(domain, server.host);
      return server;
    },
    hostileServer: async (script, host = "127.0.0.1") =>
      await add(await startHostileMailServer(script, { host, port })),
    prober(given = {}) {
      const options = { smtp: IDENTITY, dnsServers: [dns.address], forbidden: withLoopback(), ...given };
      const { smtp, dnsServers, connect, forbidden, cache, secret, onError, ...limits } = options;
      const settings = readProberOptions({ smtp, dnsServers, connect, forbidden, cache, secret, onError });
      const prober = createProber({
        ...settings,
        ...(port === 0 ? {} : { port }),
        ...limits,
        budget: { ...settings.budget, ...limits.budget },
      });
      probers.push(prober);
      return prober;
    },
    route,
    async close() {
      await Promise.all(probers.map((prober) => prober.close()));
      const received = servers.flatMap((server) => ("lines" in server ? server.lines : server.commands));
      await Promise.all([dns.close(), ...servers.map((server) => server.close())]);
      for (const line of received) assert.match(line, PERMITTED);
    },
  };
}

/** All special addresses except the loopback, where the tests' servers run. */
export function withLoopback(): BlockList {
  return specialAddresses(["127.0.0.0/8"]);
}

/** A signal that never aborts, for probes that end by their own time limits. */
export const never = () => new AbortController().signal;
