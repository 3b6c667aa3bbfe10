import { time } from "../../option-rules.ts";
import { parsedUrl } from "../../parsed-url.ts";
import { isSentinelUrl, parseSentinelUrl } from "../sentinel-url.ts";
import type { RedisTarget } from "./storage-target.ts";
import { isEncoded, readFlag, readParameters, readWhole, type UrlParameters } from "./url-parameters.ts";

const FORM =
  "must be redis://[user:password@]host[:port][/database][?prefix=…&timeoutMs=…] or rediss://…, with special characters in user and password percent-encoded";

/** Ten years. */
const MAX_TTL_MS = 315_360_000_000;

/** URL forms of Unix sockets that other Redis clients accept. Outrigger connects by TCP only. */
const UNIX_SOCKET = /^(?:unix|rediss?\+(?:unix|socket)|redis-socket):/i;

/** Whether a text is meant as a Redis URL, including the rejected forms. */
export function isRedisUrl(text: string): boolean {
  return /^rediss?:/i.test(text) || isSentinelUrl(text) || UNIX_SOCKET.test(text);
}

/**
 * Parses `redis://…` or `rediss://…`: one address, or several of a cluster, separated by commas; or `redis+sentinel://…`.
 * @throws TypeError that states the accepted form and quotes no part of the text.
 */
export function parseRedisUrl(text: string): RedisTarget {
  if (UNIX_SOCKET.test(text)) {
    throw new TypeError(
      "must be redis://host:port: Outrigger connects to Redis by TCP, not by a Unix socket. Set `port 6379` and `bind 127.0.0.1` in the configuration of Redis",
    );
  }
  if (isSentinelUrl(text)) return parseSentinelTarget(text);
  const addresses = text.split(/,(?=rediss?:\/\/)/i).map(readAddress);
  const last = addresses.at(-1);
  if (last === undefined) throw new TypeError(FORM);
  if (addresses.some((address) => address !== last && address.search !== "")) {
    throw new TypeError("must have its parameters after the last address");
  }
  const { cluster, ...own } = readParameters(last, ["prefix", "timeoutMs", "cluster", "ttlMs"]);
  last.search = "";
  const isCluster = readFlag("cluster", cluster) ?? addresses.length > 1;
  if (addresses.length > 1) checkRootNodes(addresses, isCluster);
  if (isCluster && addresses.some(({ pathname }) => !/^\/?0?$/.test(pathname))) {
    throw new TypeError("must not name a database of a cluster: clusters have none");
  }
  const url = isCluster ? addresses.map(({ href }) => href) : last.href;
  return { kind: "redis", url, ...readOwn(own) };
}

/** Parameters that the Redis adapter parses stay in the URL. */
function parseSentinelTarget(text: string): RedisTarget {
  const [address = "", ...queries] = text.split("?");
  const { prefix, timeoutMs, ttlMs, ...others } = readParameters(new URL(`redis:?${queries.join("?")}`), [
    ...["db", "sentinelUser", "sentinelPassword"],
    ...["prefix", "timeoutMs", "ttlMs"],
  ]);
  const rest = new URLSearchParams(others as Record<string, string>); // Absent parameters have no key.
  const url = rest.size === 0 ? address : `${address}?${rest}`;
  parseSentinelUrl(url);
  return { kind: "redis", url, ...readOwn({ prefix, timeoutMs, ttlMs }) };
}

function readOwn({ prefix, timeoutMs, ttlMs }: UrlParameters<"prefix" | "timeoutMs" | "ttlMs">) {
  if (prefix !== undefined && !/^[A-Za-z0-9_.:-]{1,100}$/.test(prefix)) {
    throw new TypeError("must have 1 to 100 letters, digits or characters of _.:- as prefix");
  }
  return {
    prefix,
    timeoutMs: readWhole("timeoutMs", timeoutMs, time(50, 60_000)),
    ttlMs: readWhole("ttlMs", ttlMs, time(1000, MAX_TTL_MS)),
  };
}

function readAddress(text: string): URL {
  const url = parsedUrl(text);
  const isWell =
    url !== null &&
    url.hostname !== "" &&
    url.hash === "" &&
    /^(?:\/\d{0,5})?$/.test(url.pathname) &&
    isEncoded(url.username) &&
    isEncoded(url.password);
  if (!isWell) throw new TypeError(FORM);
  return url;
}

function checkRootNodes([first, ...others]: URL[], isCluster: boolean): void {
  if (!isCluster) throw new TypeError("must be one address if cluster is false");
  for (const { protocol, username, password } of others) {
    if (protocol !== first?.protocol)
      throw new TypeError("must use the same scheme, redis: or rediss:, for all addresses");
    const isOfFirst = username === first.username && password === first.password;
    if (!isOfFirst && username + password !== "") {
      throw new TypeError("must have the user in the first address only: all nodes of a cluster share it");
    }
  }
}
