import type { MxRecord } from "node:dns";
import { Resolver } from "node:dns/promises";
import { systemCode } from "@outrigger/core/values";
import type { ProberSettings } from "../prober-options.ts";

/** The result of a DNS query. */
export type DnsAnswer<T> =
  | { state: "found"; records: T[] }
  /** The name does not exist, or it has no record of this type. */
  | { state: "absent" }
  /** The query failed, so nothing is known. */
  | { state: "failed" };

/** DNS queries with one deadline for all of them. They never reject. */
export class DnsLookup {
  readonly #resolver: Resolver;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;
  #end = () => {};
  /** Resolves at the deadline or when cancelled. */
  readonly over = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor({ dnsServers, dnsMs }: Pick<ProberSettings, "dnsServers" | "dnsMs">) {
    // The resolver doubles its time-outs and applies them per server, so only the deadline is a reliable limit.
    this.#resolver = new Resolver({ timeout: Math.max(100, Math.floor(dnsMs / 3)), tries: 2 });
    if (dnsServers !== null) this.#resolver.setServers(dnsServers);
    this.#timer = setTimeout(this.cancel, dnsMs);
  }

  mx(name: string): Promise<DnsAnswer<MxRecord>> {
    return this.#ask(() => this.#resolver.resolveMx(name));
  }

  a(name: string): Promise<DnsAnswer<string>> {
    return this.#ask(() => this.#resolver.resolve4(name));
  }

  aaaa(name: string): Promise<DnsAnswer<string>> {
    return this.#ask(() => this.#resolver.resolve6(name));
  }

  ns(name: string): Promise<DnsAnswer<string>> {
    return this.#ask(() => this.#resolver.resolveNs(name));
  }

  /** Cancels the queries under way; later ones fail at once. */
  readonly cancel = (): void => {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#resolver.cancel();
    this.#end();
  };

  async #ask<T>(question: () => Promise<T[]>): Promise<DnsAnswer<T>> {
    if (this.#isOver) return { state: "failed" };
    try {
      const records = await question();
      return records.length === 0 ? { state: "absent" } : { state: "found", records };
    } catch (error) {
      return { state: isAbsence(error) ? "absent" : "failed" };
    }
  }
}

/**
 * Only these two codes mean absence. Any other, such as SERVFAIL, REFUSED or a time-out, tells nothing about
 * the name.
 */
function isAbsence(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOTFOUND" || code === "ENODATA";
}
