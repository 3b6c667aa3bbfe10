import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { type BlockList, isIP, type LookupFunction, type TcpNetConnectOpts } from "node:net";
import type { Readable } from "node:stream";
import { abortable } from "../../async/abortable.ts";
import { utf8Of } from "../header-text.ts";
import type { RemoteAddress } from "./remote-policy.ts";
import { checkRemoteUrl, type RemotePolicy } from "./remote-policy.ts";
import { isForbidden, specialAddresses } from "./special-addresses.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];
const MAX_HEADER_BYTES = 16 * 1024;
/** Time for each address of a host while others remain. Node's default fails where a round trip takes 250 ms. */
const ATTEMPT_MS = 2000;

export interface RemoteRequest extends Resolution {
  /** Headers of each request, without `Accept-Encoding` if no encoding is accepted. */
  headers: Readonly<Record<string, string>>;
  /** Time limit without a byte, in milliseconds. */
  idleMs: number;
  /** Aborts the request, also while the body is read. */
  signal: AbortSignal;
  /** Certificates of further authorities. @default those of Node */
  ca?: string | Buffer;
  /** Body of a POST. Absent: the request is a GET. */
  post?: string;
}

export interface RemoteOptions extends RemoteRequest {
  policy: RemotePolicy;
}

/** A file of another server. */
export interface RemoteFile {
  /** Read it to its end, or destroy it. Of any length: the server's `Content-Length` is not checked. */
  body: Readable;
  /** `Content-Disposition`. */
  disposition: string | undefined;
}

/**
 * Opens a file of another server. Follows at most 5 redirects, and checks each like the first URL. Rejects with an error for the
 * host's log: the client must not learn what the server, or the lack of one, told.
 */
export async function openRemote(address: RemoteAddress, options: RemoteOptions): Promise<RemoteFile> {
  let next = address;
  for (let redirects = 0; ; redirects++) {
    const response = await requestRemote(next, options);
    const { statusCode, headers } = response;
    if (statusCode === 200 && isPlain(headers["content-encoding"])) {
      return { body: response, disposition: headers["content-disposition"] };
    }
    response.destroy();
    if (statusCode === 200) throw new Error("the reply has a Content-Encoding, although none was accepted");
    if (!isRedirect(statusCode) || headers.location === undefined) {
      throw new Error(`the reply has the status ${statusCode}`);
    }
    if (redirects === MAX_REDIRECTS) throw new Error(`there are more than ${MAX_REDIRECTS} redirects`);
    const target = checkRemoteUrl(utf8Of(headers.location), options.policy, next.url);
    if (typeof target === "string") throw new Error(`the address of a redirect must ${target}`);
    next = target;
  }
}

export function isRedirect(statusCode: number | undefined): boolean {
  return REDIRECTS.includes(statusCode);
}

/**
 * Sends one GET or POST and follows no redirect: resolves the host once, checks its addresses, and connects to one of these. Resolves with
 * the head of the reply; read its body to the end, or destroy it. Rejects like {@link openRemote}.
 */
export async function requestRemote(
  address: RemoteAddress,
  options: RemoteRequest,
): Promise<IncomingMessage> {
  return await ask(address, await resolveHost(address, options, options.signal), options);
}

/** Sends the request to one of the addresses. Resolves with the head of the reply. */
function ask(
  { url, host }: RemoteAddress,
  addresses: readonly LookupAddress[],
  { headers, idleMs, signal, ca, post }: RemoteRequest,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const options: RequestOptions & Pick<TcpNetConnectOpts, "autoSelectFamilyAttemptTimeout"> = {
    method: post === undefined ? "GET" : "POST",
    hostname: host,
    port: url.port === "" ? (isSecure ? 443 : 80) : url.port,
    path: url.pathname + url.search,
    headers: { "Accept-Encoding": "identity", ...headers },
    // A connection of its own: one from a pool may lead to an address that was not checked.
    agent: false,
    lookup: fixedLookup(addresses),
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    timeout: idleMs,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  if (isSecure) {
    // Explicit, because a variable of the environment can turn it off.
    options.rejectUnauthorized = true;
    options.servername = isIP(host) === 0 ? host : "";
    if (ca !== undefined) options.ca = ca;
  }
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)(options);
    let response: IncomingMessage | undefined;
    const fail = (error: Error) => {
      reject(error);
      // Without an error of its own, a body that lasts until the connection closes would seem complete.
      response?.destroy(error);
      request.destroy(error);
    };
    const abort = () => fail(signal.reason);
    request.on("response", (head) => {
      response = head;
      resolve(head);
    });
    request.on("timeout", () => fail(new Error(`the server sent nothing for ${idleMs} ms`)));
    request.on("error", fail);
    request.on("close", () => {
      signal.removeEventListener("abort", abort);
      reject(new Error("the connection was closed before a reply"));
    });
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    else request.end(post);
  });
}

/** Returns the checked addresses for any name. */
function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family);
  };
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.trim().toLowerCase() === "identity";
}

/** Most addresses of a host that are tried. */
const MAX_ADDRESSES = 8;
const QUERY_MS = 3000;

/** How host names become addresses. */
export interface Resolution {
  /** Addresses that are never contacted, except those of internal hosts. @default specialAddresses() */
  forbidden?: BlockList;
  /** DNS resolvers. @default the machine's */
  dnsServers?: readonly string[];
}

/**
 * Resolves a host once. A connection must go to one of these addresses: a second query may have another answer. Rejects if
 * the host has no address, or none that may be contacted.
 */
async function resolveHost(
  { host, isInternal }: RemoteAddress,
  { forbidden = specialAddresses(), dnsServers }: Resolution,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  if (isInternal) {
    try {
      // As every program of the machine, with its file of hosts.
      return (await abortable(lookup(host, { all: true }), signal)).slice(0, MAX_ADDRESSES);
    } catch (error) {
      // RFC 6761, which not every resolver knows.
      if (!host.endsWith(".localhost") || signal.aborted) throw error;
      return [{ address: "127.0.0.1", family: 4 }];
    }
  }
  const found = isIP(host) === 0 ? await queryDns(host, dnsServers, signal) : [host];
  const allowed = found.filter((address) => !isForbidden(forbidden, address));
  if (allowed.length === 0) throw new Error(`the host has no public address (${found.length} others)`);
  return allowed.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
}

/**
 * Asks the DNS. `dns.lookup` would occupy a thread that the file system needs, for as long as the resolver of a hostile domain
 * takes, and cannot be cancelled.
 */
async function queryDns(
  host: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.throwIfAborted();
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const [first] = answers;
    if (found.length === 0 && first.status === "rejected") throw first.reason;
    return found;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
