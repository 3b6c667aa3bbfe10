import { createHmac, randomBytes } from "node:crypto";
import type { KeyValue } from "@outrigger/core/stores";
import { type MailRoute, readMailRoute } from "./dns/mail-route.ts";
import type { ProberSettings } from "./prober-options.ts";

/** A question that a server has greylisted. */
export interface Greylisting {
  /** Address of the host that greylisted it and has recorded this sender. */
  address: string;
  /** How often it was greylisted. */
  times: number;
  /** Earliest time of the next question, in Unix milliseconds. */
  askAtMs: number;
}

type ProberMemoryOptions = Pick<ProberSettings, "secret" | "now" | "onError"> & { cache: KeyValue };

/** After a day without a retry, servers forget the sender, and so does the prober. */
const GREYLISTING_TTL_MS = 86_400_000;

/** Cached results of earlier questions. A cache that fails counts as empty. */
export class ProberMemory {
  readonly #options: ProberMemoryOptions;
  readonly #secret: string | Buffer;

  constructor(options: ProberMemoryOptions) {
    this.#options = options;
    this.#secret = options.secret ?? randomBytes(32);
  }

  async route(domain: string): Promise<MailRoute | undefined> {
    return readMailRoute(await this.#read(`mail-route:${domain}`));
  }

  storeRoute(domain: string, route: MailRoute, ttlMs: number): Promise<void> {
    return this.#store(`mail-route:${domain}`, route, ttlMs);
  }

  async acceptsAll(domain: string): Promise<boolean | undefined> {
    const value = await this.#read(`mail-accepts-all:${domain}`);
    return typeof value === "boolean" ? value : undefined;
  }

  storeAcceptsAll(domain: string, acceptsAll: boolean, ttlMs: number): Promise<void> {
    return this.#store(`mail-accepts-all:${domain}`, acceptsAll, ttlMs);
  }

  async greylisting(local: string, domain: string): Promise<Greylisting | undefined> {
    return readGreylisting(await this.#read(this.#greylistKey(local, domain)));
  }

  storeGreylisting(local: string, domain: string, greylisting: Greylisting): Promise<void> {
    return this.#store(this.#greylistKey(local, domain), greylisting, GREYLISTING_TTL_MS);
  }

  async forget(local: string, domain: string): Promise<void> {
    await this.#options.cache.delete(this.#greylistKey(local, domain));
  }

  #greylistKey(local: string, domain: string): string {
    const mac = createHmac("sha256", this.#secret).update(`${local.toLowerCase()}@${domain}`);
    return `mail-greylisting:${mac.digest("base64url")}`;
  }

  async #read(name: string): Promise<unknown> {
    const { cache, now, onError } = this.#options;
    try {
      const entry = await cache.get(name);
      if (typeof entry !== "object" || entry === null || !("untilMs" in entry)) return undefined;
      return Number(entry.untilMs) > now() && "value" in entry ? entry.value : undefined;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  async #store(name: string, value: unknown, ttlMs: number): Promise<void> {
    const { cache, now, onError } = this.#options;
    try {
      // The entry also contains its expiry, because not every store supports a time to live.
      await cache.set(name, { value, untilMs: now() + ttlMs }, ttlMs);
    } catch (error) {
      onError(error);
    }
  }
}

function readGreylisting(value: unknown): Greylisting | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!("address" in value && "times" in value && "askAtMs" in value)) return undefined;
  const { address, times, askAtMs } = value;
  const isSound = typeof address === "string" && typeof times === "number" && typeof askAtMs === "number";
  return isSound ? { address, times, askAtMs } : undefined;
}
