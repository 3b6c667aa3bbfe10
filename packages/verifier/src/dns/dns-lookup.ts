import type { MxRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { systemCode } from "@outrigger/core/values";

/** The result of a DNS query. */
export type DnsAnswer<T> =
  | { state: "found"; records: T[] }
  /** The name does not exist, or it has no record of this type. */
  | { state: "absent" }
  /** The query failed, so nothing is known. */
  | { state: "failed" };

/** DNS queries with one deadline for all of them. They never reject. */
export interface DnsLookup {
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  ns(name: string): Promise<DnsAnswer<string>>;
  /** Resolves at the deadline or when cancelled. */
  over: Promise<void>;
  /** Cancels the queries under way; later ones fail at once. */
  cancel(): void;
}

export interface DnsLookupOptions {
  /** `null`: the machine's resolvers. */
  servers: readonly string[] | null;
  deadlineMs: number;
}

export function openDnsLookup({ servers, deadlineMs }: DnsLookupOptions): DnsLookup {
  // The resolver doubles its time-outs and applies them per server, so only the deadline is a reliable limit.
  const resolver = new Resolver({ timeout: Math.max(100, Math.floor(deadlineMs / 3)), tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  let isOver = false;
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(cancel, deadlineMs);

  function cancel(): void {
    isOver = true;
    clearTimeout(timer);
    resolver.cancel();
    end();
  }

  async function ask<T>(question: () => Promise<T[]>): Promise<DnsAnswer<T>> {
    if (isOver) return { state: "failed" };
    try {
      const records = await question();
      return records.length === 0 ? { state: "absent" } : { state: "found", records };
    } catch (error) {
      return { state: isAbsence(error) ? "absent" : "failed" };
    }
  }

  return {
    mx: (name) => ask(() => resolver.resolveMx(name)),
    a: (name) => ask(() => resolver.resolve4(name)),
    aaaa: (name) => ask(() => resolver.resolve6(name)),
    ns: (name) => ask(() => resolver.resolveNs(name)),
    over,
    cancel,
  };
}

/**
 * Only these two codes mean absence. Any other, such as SERVFAIL, REFUSED or a time-out, tells nothing about
 * the name.
 */
function isAbsence(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOTFOUND" || code === "ENODATA";
}
