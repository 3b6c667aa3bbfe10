import type { ConnectionOptions } from "node:tls";
import { isSentinelUrl, parseSentinelUrl, type SentinelUrl } from "./sentinel-url.ts";

/** Where Redis is and how long it may take. */
export interface RedisOptions {
  /**
   * `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. An array, even of one address, is the root
   * nodes of a cluster, which has the one user of the first address and no databases. The master that Sentinels watch is
   * `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[?db=…&sentinelUser=…&sentinelPassword=…]`, or
   * `rediss+sentinel://` for TLS: the hosts are all Sentinels, and `name` is what they call the master.
   */
  url: string | readonly string[];
  /**
   * How long one round trip may take, and connecting too, in milliseconds; an integer of 50 to 60,000. What takes several
   * round trips, such as a large blob, may take as long for each of them.
   * @default 2000
   */
  timeoutMs?: number;
  /** For `rediss:` and `rediss+sentinel:` addresses: certificates and what else `tls.connect` takes. @default what Node trusts */
  tls?: Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "servername" | "rejectUnauthorized">;
  /**
   * Hears of trouble with a connection as it happens; a call that fails for it rejects all the same.
   * @default nobody hears of it
   */
  onError?: (error: unknown) => void;
}

/** A server as its address names it. */
export interface RedisAddress {
  host: string;
  port: number;
  isSecure: boolean;
  username?: string;
  password?: string;
  database: number;
}

/** The master that Sentinels watch, but for where it is. */
export interface SentinelSettings {
  /** As `sentinel monitor` calls it. */
  name: string;
  master: Omit<RedisAddress, "host" | "port">;
}

/** {@link RedisOptions}, checked. */
export interface RedisSettings {
  /** Of the server, of the root nodes of a cluster, or of the Sentinels. */
  addresses: [RedisAddress, ...RedisAddress[]];
  /** `null` without Sentinels. */
  sentinel: SentinelSettings | null;
  isCluster: boolean;
  timeoutMs: number;
  tls: NonNullable<RedisOptions["tls"]>;
  onError: (error: unknown) => void;
}

/** Throws a `TypeError` that says what is wrong and never shows a password. */
export function readOptions(options: RedisOptions): RedisSettings {
  const { url, timeoutMs = 2000, tls = {}, onError = () => undefined } = options;
  checkInteger("timeoutMs", timeoutMs, 50, 60_000);
  const rest = { timeoutMs, tls, onError };
  if (typeof url === "string" && isSentinelUrl(url)) return { ...readSentinels(url), ...rest };
  const [first, ...others] = (typeof url === "string" ? [url] : url).map(readAddress);
  if (first === undefined) throw new TypeError("url must name at least one Redis server.");
  const isCluster = typeof url !== "string";
  if (isCluster && [first, ...others].some(({ database }) => database !== 0)) {
    throw new TypeError("A Redis cluster has no databases: the addresses in url must not name one.");
  }
  return { addresses: [first, ...others], sentinel: null, isCluster, ...rest };
}

function readSentinels(url: string): Pick<RedisSettings, "addresses" | "sentinel" | "isCluster"> {
  const { sentinels, name, isSecure, database, ...logins } = parsed(url);
  const { username, password, sentinelUser, sentinelPassword } = logins;
  const [first, ...others] = sentinels.map((sentinel) => ({
    ...sentinel,
    ...loginOf(sentinelUser, sentinelPassword),
    isSecure,
    database: 0,
  }));
  if (first === undefined) throw new TypeError("url must name at least one Sentinel.");
  const master = { ...loginOf(username, password), isSecure, database };
  return { addresses: [first, ...others], sentinel: { name, master }, isCluster: false };
}

function parsed(url: string): SentinelUrl {
  try {
    return parseSentinelUrl(url);
  } catch (error) {
    // What the parser says begins with `must`.
    throw error instanceof TypeError ? new TypeError(`url ${error.message}.`, { cause: error }) : error;
  }
}

function loginOf(username: string | undefined, password: string | undefined) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

/** Throws a `TypeError` unless `value` is an integer of `min` to `max`. */
export function checkInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new TypeError(`${name} must be an integer of ${min} to ${max}, not ${value}.`);
}

/** Throws a `TypeError` unless `prefix` may begin the names of keys: braces in it would decide where in a cluster they are. */
export function checkPrefix(prefix: string): void {
  if (/^[A-Za-z0-9_.:-]{1,100}$/.test(prefix)) return;
  throw new TypeError("prefix must be 1 to 100 letters, digits or characters of `_.:-`.");
}

function readAddress(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const database = /^\/(\d{0,5})$/.exec(url?.pathname || "/")?.[1];
  if (
    url === undefined ||
    !/^rediss?:$/.test(url.protocol) ||
    url.hostname === "" ||
    database === undefined
  ) {
    throw new TypeError("url must be of the form redis://[user:password@]host[:port][/database].");
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    isSecure: url.protocol === "rediss:",
    ...(url.username === "" ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === "" ? {} : { password: decodeURIComponent(url.password) }),
    database: Number(database),
  };
}
