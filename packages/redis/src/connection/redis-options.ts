import type { ConnectionOptions } from "node:tls";
import { isSentinelUrl, parseSentinelUrl, rules, type SentinelUrl } from "@outrigger/core/stores";
import { parsedUrl } from "@outrigger/core/values";

/** The parsed address of a server. */
export interface RedisAddress {
  host: string;
  port: number;
  isSecure: boolean;
  username?: string;
  password?: string;
  database: number;
}

/** The master behind Sentinels, without its host and port. */
export interface SentinelSettings {
  /** Name of the master in `sentinel monitor`. */
  name: string;
  master: Omit<RedisAddress, "host" | "port">;
}

/** {@link RedisOptions}, checked. */
export interface RedisSettings {
  /** Addresses of the server, of the root nodes of a cluster, or of the Sentinels. */
  addresses: [RedisAddress, ...RedisAddress[]];
  /** `null` without Sentinels. */
  sentinel: SentinelSettings | null;
  isCluster: boolean;
  timeoutMs: number;
  tls: NonNullable<RedisOptions["tls"]>;
  onError: (error: unknown) => void;
}

const URL_FORM =
  "redis://[user:password@]host[:port][/database], redis+sentinel://host[:port][,host…]/name, or a list of addresses without databases: those of a cluster";

/** Options of every factory. */
export const CONNECTION_RULES = {
  /**
   * `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. An array, even of one URL, gives the
   * root nodes of a cluster; the user of the first counts. Behind Sentinels, which know the master by `name`:
   * `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[?db=…&sentinelUser=…&sentinelPassword=…]`, or
   * `rediss+sentinel://`.
   */
  url: rules.required(rules.value<string | readonly string[]>(URL_FORM, isUrl, true)),
  /** Time limit of connecting and of each round trip, in milliseconds, 50 to 60,000. @default 2000 */
  timeoutMs: rules.preset(2000, rules.time(50, 60_000)),
  /**
   * Certificates and other options of `tls.connect`, for `rediss:` and `rediss+sentinel:`.
   * @default Node's trusted CAs
   */
  tls: rules.preset(
    {},
    rules.value<
      Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "servername" | "rejectUnauthorized">
    >("options of tls.connect", (given) => typeof given === "object" && given !== null, true),
  ),
  /** Receives connection errors. A call that fails because of one rejects as well. @default ignored */
  onError: rules.preset(() => undefined, rules.fn<(error: unknown) => void>()),
};

/** Address of Redis. */
export interface RedisOptions extends rules.Options<typeof CONNECTION_RULES> {}

/** Prefix of keys. Braces are not allowed: they would change the slot of the keys in a cluster. */
export const PREFIX_RULE = rules.preset(
  "outrigger",
  rules.text("1 to 100 letters, digits or characters of `_.:-`", (prefix) =>
    /^[A-Za-z0-9_.:-]{1,100}$/.test(prefix),
  ),
);

/** Converts checked options to settings. */
export function readOptions({ url, ...others }: rules.Checked<typeof CONNECTION_RULES>): RedisSettings {
  if (typeof url === "string" && isSentinelUrl(url)) return { ...readSentinels(url), ...others };
  const [first, ...more] = [url].flat().flatMap((text) => readAddress(text) ?? []);
  if (first === undefined) throw new TypeError(`url must be ${URL_FORM}`);
  return { addresses: [first, ...more], sentinel: null, isCluster: typeof url !== "string", ...others };
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
    // The parser's message begins with `must`.
    throw error instanceof TypeError ? new TypeError(`url ${error.message}.`, { cause: error }) : error;
  }
}

function loginOf(username: string | undefined, password: string | undefined) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function isUrl(given: unknown): boolean {
  // `readSentinels` reports the mistakes of a Sentinel URL.
  if (typeof given === "string" && isSentinelUrl(given)) return true;
  const addresses = [given].flat().map((each) => (typeof each === "string" ? readAddress(each) : null));
  const isCluster = Array.isArray(given);
  return (
    addresses.length > 0 && addresses.every((each) => each !== null && !(isCluster && each.database !== 0))
  );
}

/** @returns `null` for a text that is not an address. */
function readAddress(text: string): RedisAddress | null {
  const url = parsedUrl(text) ?? undefined;
  const database = /^\/(\d{0,5})$/.exec(url?.pathname || "/")?.[1];
  if (
    url === undefined ||
    !/^rediss?:$/.test(url.protocol) ||
    url.hostname === "" ||
    database === undefined ||
    !isEncoded(url.username + url.password)
  ) {
    return null;
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

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // A percent sign that is not encoded.
    return false;
  }
}
