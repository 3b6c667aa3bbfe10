import type { LookupAddress } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { isIP, type LookupFunction, type TcpNetConnectOpts } from "node:net";
import type { Readable } from "node:stream";
import { checkRemoteUrl, type RemoteAddress, type RemotePolicy } from "./remote-policy.ts";
import { type Resolution, resolveHost } from "./resolve-host.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly (number | undefined)[] = [301, 302, 303, 307, 308];
const MAX_HEADER_BYTES = 16 * 1024;
/** Time for each address of a host while others remain. Node's default fails where a round trip takes 250 ms. */
const ATTEMPT_MS = 2000;

export interface RemoteOptions extends Resolution {
  policy: RemotePolicy;
  /** Headers of each request. */
  headers: Readonly<Record<string, string>>;
  /** Time limit without a byte, in milliseconds. */
  idleMs: number;
  /** Aborts the request, also while the body is read. */
  signal: AbortSignal;
  /** Certificates of further authorities. @default those of Node */
  ca?: string | Buffer;
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
    const response = await ask(next, await resolveHost(next, options, options.signal), options);
    const { statusCode, headers } = response;
    if (statusCode === 200 && isPlain(headers["content-encoding"])) {
      return { body: response, disposition: headers["content-disposition"] };
    }
    response.destroy();
    if (statusCode === 200) throw new Error("the reply has a Content-Encoding, although none was accepted");
    if (!REDIRECTS.includes(statusCode) || headers.location === undefined) {
      throw new Error(`the reply has the status ${statusCode}`);
    }
    if (redirects === MAX_REDIRECTS) throw new Error(`there are more than ${MAX_REDIRECTS} redirects`);
    const target = checkRemoteUrl(headers.location, options.policy, next.url);
    if (typeof target === "string") throw new Error(`the address of a redirect must ${target}`);
    next = target;
  }
}

/** Sends one GET to one of the addresses. Resolves with the head of the reply. */
function ask(
  { url, host }: RemoteAddress,
  addresses: readonly LookupAddress[],
  { headers, idleMs, signal, ca }: RemoteOptions,
): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const options: RequestOptions & Pick<TcpNetConnectOpts, "autoSelectFamilyAttemptTimeout"> = {
    hostname: host,
    port: url.port === "" ? (isSecure ? 443 : 80) : url.port,
    path: url.pathname + url.search,
    headers: { ...headers, "Accept-Encoding": "identity" },
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
    else request.end();
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
