import type { ConnectionOptions } from "node:tls";
import { type Checked, type RuleTable, rules } from "@outrigger/core/stores";
import { isSentinelUrl, parseSentinelUrl, type SentinelUrl } from "../sentinel-url.ts";

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

const URL_FORM =
  "redis://[user:password@]host[:port][/database], redis+sentinel://host[:port][,host…]/name, or a list of addresses without databases: those of a cluster";

/** What every factory of this package takes for its connection, unless it shares one. */
export const OWN_RULES = {
  url: rules.value(URL_FORM, isUrl, true),
  timeoutMs: rules.whole(50, 60_000),
  tls: rules.value("options of tls.connect", (given) => typeof given === "object" && given !== null, true),
  onError: rules.fn(),
} satisfies RuleTable<Partial<RedisOptions>>;

export const CONNECTION_RULES = {
  url: rules.required(OWN_RULES.url),
  timeoutMs: rules.preset(2000, OWN_RULES.timeoutMs),
  tls: rules.preset({}, OWN_RULES.tls),
  onError: rules.preset(() => undefined, OWN_RULES.onError),
} satisfies RuleTable<RedisOptions>;

/** What keys begin with. Braces in it would decide where in a cluster they are. */
export const PREFIX_RULE = rules.preset(
  "outrigger",
  rules.text("1 to 100 letters, digits or characters of `_.:-`", (prefix) =>
    /^[A-Za-z0-9_.:-]{1,100}$/.test(prefix),
  ),
);

/** The settings of checked options. */
export function readOptions({
  url,
  ...others
}: Checked<RedisOptions, typeof CONNECTION_RULES>): RedisSettings {
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

function isUrl(given: unknown): boolean {
  // What is wrong with one is told where it is read.
  if (typeof given === "string" && isSentinelUrl(given)) return true;
  const addresses = [given].flat().map((each) => (typeof each === "string" ? readAddress(each) : null));
  const isCluster = Array.isArray(given);
  return (
    addresses.length > 0 && addresses.every((each) => each !== null && !(isCluster && each.database !== 0))
  );
}

/** @returns `null` for what is no address. */
function readAddress(text: string): RedisAddress | null {
  const url = URL.canParse(text) ? new URL(text) : undefined;
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
    // A percent sign that was not encoded itself.
    return false;
  }
}
