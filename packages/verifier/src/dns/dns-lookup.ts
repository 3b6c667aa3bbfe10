import type { MxRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { systemCode } from "@outrigger/core";

/** What came of a question. */
export type DnsAnswer<T> =
  | { state: "found"; records: T[] }
  /** There is no such name, or no such record of it. */
  | { state: "absent" }
  /** It could not be asked. */
  | { state: "failed" };

/** Questions to the DNS with one deadline over all of them. None rejects. */
export interface DnsLookup {
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  a(name: string): Promise<DnsAnswer<string>>;
  aaaa(name: string): Promise<DnsAnswer<string>>;
  /** Gives up what is under way, and whatever is asked later. */
  cancel(): void;
}

export interface DnsLookupOptions {
  /** `null`: those of the machine. */
  servers: readonly string[] | null;
  deadlineMs: number;
}

export function openDnsLookup({ servers, deadlineMs }: DnsLookupOptions): DnsLookup {
  // Its time-outs double, and are counted for each server: only the deadline can be relied on.
  const resolver = new Resolver({ timeout: Math.max(100, Math.floor(deadlineMs / 3)), tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  let isOver = false;
  const timer = setTimeout(cancel, deadlineMs);

  function cancel(): void {
    isOver = true;
    clearTimeout(timer);
    resolver.cancel();
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
    cancel,
  };
}

/** Only these two are answers. All else, such as SERVFAIL, a refusal or a time-out, says nothing of the name. */
function isAbsence(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOTFOUND" || code === "ENODATA";
}
