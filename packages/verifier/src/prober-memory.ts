import { createHmac, randomBytes } from "node:crypto";
import type { KeyValue } from "@outrigger/core/stores";
import { type MailRoute, readMailRoute } from "./dns/mail-route.ts";

/** A question that a server has greylisted. */
export interface Greylisting {
  /** Address of the host that greylisted it and has recorded this sender. */
  address: string;
  /** How often it was greylisted. */
  times: number;
  /** Earliest time of the next question, in Unix milliseconds. */
  askAtMs: number;
}

/** Cached results of earlier questions. A cache that fails counts as empty. */
export interface ProberMemory {
  route(domain: string): Promise<MailRoute | undefined>;
  keepRoute(domain: string, route: MailRoute, ttlMs: number): Promise<void>;
  acceptsAll(domain: string): Promise<boolean | undefined>;
  keepAcceptsAll(domain: string, acceptsAll: boolean, ttlMs: number): Promise<void>;
  greylisting(local: string, domain: string): Promise<Greylisting | undefined>;
  keepGreylisting(local: string, domain: string, greylisting: Greylisting): Promise<void>;
  forget(local: string, domain: string): Promise<void>;
}

export interface ProberMemoryOptions {
  cache: KeyValue;
  secret: string | undefined;
  now: () => number;
  onError: (error: unknown) => void;
}

/** After a day without a retry, servers forget the sender, and so does the prober. */
const GREYLISTING_TTL_MS = 86_400_000;

export function createProberMemory({ cache, secret, now, onError }: ProberMemoryOptions): ProberMemory {
  const key = secret ?? randomBytes(32);
  const greylistKey = (local: string, domain: string) =>
    `mail-greylisting:${createHmac("sha256", key).update(`${local.toLowerCase()}@${domain}`).digest("base64url")}`;

  async function read(name: string): Promise<unknown> {
    try {
      const entry = await cache.get(name);
      if (typeof entry !== "object" || entry === null || !("untilMs" in entry)) return undefined;
      return Number(entry.untilMs) > now() && "value" in entry ? entry.value : undefined;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  async function keep(name: string, value: unknown, ttlMs: number): Promise<void> {
    try {
      // The entry also contains its expiry, because not every store supports a time to live.
      await cache.set(name, { value, untilMs: now() + ttlMs }, ttlMs);
    } catch (error) {
      onError(error);
    }
  }

  return {
    route: async (domain) => readMailRoute(await read(`mail-route:${domain}`)),
    keepRoute: (domain, route, ttlMs) => keep(`mail-route:${domain}`, route, ttlMs),
    async acceptsAll(domain) {
      const value = await read(`mail-accepts-all:${domain}`);
      return typeof value === "boolean" ? value : undefined;
    },
    keepAcceptsAll: (domain, acceptsAll, ttlMs) => keep(`mail-accepts-all:${domain}`, acceptsAll, ttlMs),
    greylisting: async (local, domain) => readGreylisting(await read(greylistKey(local, domain))),
    keepGreylisting: (local, domain, value) => keep(greylistKey(local, domain), value, GREYLISTING_TTL_MS),
    async forget(local, domain) {
      await cache.delete(greylistKey(local, domain));
    },
  };
}

function readGreylisting(value: unknown): Greylisting | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!("address" in value && "times" in value && "askAtMs" in value)) return undefined;
  const { address, times, askAtMs } = value;
  const isSound = typeof address === "string" && typeof times === "number" && typeof askAtMs === "number";
  return isSound ? { address, times, askAtMs } : undefined;
}
