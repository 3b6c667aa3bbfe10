import { isIP } from "node:net";
import * as rules from "../../option-rules.ts";
import { parsedUrl } from "../../parsed-url.ts";

export const IMPORT_RULES = {
  /**
   * Hosts of your own network from which images are fetched: `name`, or `name:port` for a port other than 80 and 443.
   * Any client that may upload can then send GET requests to them.
   * @default none: only the public internet
   */
  internalHosts: rules.preset(
    [],
    rules.texts("a list of hosts, such as cms.example or cms.example:8080", isHostEntry),
  ),
};

/** How images are fetched by URL. */
export interface ImportUrlsOptions extends rules.Options<typeof IMPORT_RULES> {}

/** Which servers may be contacted for a file. */
export interface RemotePolicy {
  /** Ports of URLs. */
  ports: readonly number[];
  /** Hosts that may have addresses outside the public internet: `host`, or `host:port` for a port beyond `ports`. */
  internalHosts: readonly string[];
}

/** Longest URL, in characters. */
export const MAX_URL_LENGTH = 4096;

const PORT_OF: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };
const PORT_AT_END = /:(\d{1,5})$/;

/** A URL that may be contacted. */
export interface RemoteAddress {
  url: URL;
  /** A name, or an IP address without brackets. */
  host: string;
  /** Whether the host may have an address outside the public internet. */
  isInternal: boolean;
}

/**
 * Checks a URL, but not the addresses of its host.
 * @param base URL that a relative one refers to. Absent: the URL must be absolute.
 * @returns The text after "must" if the URL is not allowed. It quotes no part of the URL, which may hold secrets.
 */
export function checkRemoteUrl(text: string, policy: RemotePolicy, base?: URL): RemoteAddress | string {
  if (text.length > MAX_URL_LENGTH) return `have at most ${MAX_URL_LENGTH} characters`;
  const url = parsedUrl(text, base?.href);
  const standardPort = PORT_OF[url?.protocol ?? ""];
  if (url === null || standardPort === undefined) return "be an absolute http or https URL";
  if (url.username !== "" || url.password !== "") return "have no user name and no password";
  const port = url.port === "" ? standardPort : Number(url.port);
  const host = plainHost(url.hostname);
  const named = policy.internalHosts.map(parseHost);
  const isNamedPort = named.some((each) => each?.host === host && each.port === port);
  if (!isNamedPort && !policy.ports.includes(port)) return `have one of the ports ${policy.ports.join(", ")}`;
  const isInternal = isNamedPort || named.some((each) => each?.host === host && each.port === null);
  return { url, host, isInternal };
}

/** Whether a text is `host` or `host:port`. */
export function isHostEntry(text: string): boolean {
  return parseHost(text) !== null;
}

function parseHost(entry: string): { host: string; port: number | null } | null {
  const url = /[/?#@\\\s]/.test(entry) ? null : parsedUrl(`http://${entry}`);
  if (url === null) return null;
  const [, port] = PORT_AT_END.exec(entry) ?? [];
  return {
    host: plainHost(url.hostname),
    port: port === undefined ? null : Number(port),
  };
}

/** A host without the brackets of IPv6 and without the dot of a full name, which certificates do not have. */
function plainHost(hostname: string): string {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? bare.replace(/\.$/, "") : bare;
}
