import type { IncomingMessage } from "node:http";
import { pipeline, Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createBrotliDecompress, createInflateRaw, createUnzip } from "node:zlib";
import {
  checkRemoteUrl,
  isRedirect,
  type RemoteAddress,
  type RemotePolicy,
  type Resolution,
  requestRemote,
} from "@outrigger/core/stores";
import { isError } from "@outrigger/core/values";
import type { PageFrontier } from "@outrigger/sql";
import { getDomain } from "tldts";
import { MAX_URL_LENGTH } from "./page-address.ts";

const MAX_REDIRECTS = 5;
/** For one request: the connection, the head and the whole body. */
const REQUEST_MS = 30_000;
const IDLE_MS = 15_000;
/** A turn whose process died ends after this time. */
const TURN_MS = 45_000;
/** The pages of a host that is busy longer are left for the next run. */
const MAX_WAIT_MS = 120_000;
/** How often a process looks whether the turn of another one ended: it ends sooner than it says. */
const LOOK_AGAIN_MS = 1000;
const MIN_DELAY_MS = 1000;
const MAX_RETRY_MS = 86_400_000;
const DECODERS = {
  gzip: createUnzip,
  "x-gzip": createUnzip,
  br: createBrotliDecompress,
};

/** A reply. `body` is empty unless the status is 200. */
export interface PageReply {
  url: URL;
  status: number;
  headers: IncomingMessage["headers"];
  /** Each line of `X-Robots-Tag`. */
  robotsTags: readonly string[];
  body: Buffer;
  /** Whether the body is longer than it may be, and the rest is missing. */
  isCut: boolean;
}

export interface PageRequest {
  maxBytes: number;
  accept: string;
  etag: string | null;
  modified: string | null;
  /** Whether a URL may be requested; checked for each redirect, too. */
  mayRead(url: URL): Promise<boolean>;
  /** Milliseconds between two requests to the host of a URL. @param reply `null` without one. */
  delayMs(url: URL, reply: PageReply | null): number;
  /** Called now and then while the host is busy. */
  hold(): Promise<void>;
  signal: AbortSignal;
}

export interface FetcherSettings extends Resolution {
  frontier: PageFrontier;
  policy: RemotePolicy;
  userAgent: string;
  perHostMs: number;
}

/** A failure of the site, for the account of a run. */
export class PageError extends Error {
  override name = "PageError";
}

/** The site cannot be reached at all. */
export class UnreachableError extends PageError {}
/** The host is busy for longer than a run waits. */
export class BusyError extends PageError {}

/** Requests pages, one at a time per host for all processes on the database. */
export class PageFetcher {
  readonly #settings: FetcherSettings;

  constructor(settings: FetcherSettings) {
    this.#settings = settings;
  }

  /** Follows redirects within the registrable domain. @returns `null` if a URL may not be read. Rejects with {@link PageError}. */
  async get(start: URL, request: PageRequest): Promise<PageReply | null> {
    let address = this.#checked(start.href);
    for (let redirects = 0; ; redirects++) {
      if (!(await request.mayRead(address.url))) return null;
      const reply = await this.#inTurn(address, request);
      const { location } = reply.headers;
      if (!isRedirect(reply.status) || location === undefined) return reply;
      if (redirects === MAX_REDIRECTS) throw new PageError(`more than ${MAX_REDIRECTS} redirects`);
      address = this.#checked(location, reply.url);
      if (address.url.href.length > MAX_URL_LENGTH)
        throw new PageError(`a redirect to a URL longer than ${MAX_URL_LENGTH} characters`);
      if (!isSameSite(start.hostname, address.url.hostname)) {
        throw new PageError(`a redirect to ${address.url.hostname}, another domain`);
      }
    }
  }

  #checked(text: string, base?: URL): RemoteAddress {
    const address = checkRemoteUrl(text, this.#settings.policy, base);
    if (typeof address === "string") throw new PageError(`the URL must ${address}`);
    return address;
  }

  async #inTurn(address: RemoteAddress, request: PageRequest): Promise<PageReply> {
    const { frontier, perHostMs } = this.#settings;
    const { host } = address.url;
    for (;;) {
      const now = Date.now();
      const waitMs = await frontier.enter(host, now, now + TURN_MS);
      if (waitMs === 0) break;
      if (waitMs > MAX_WAIT_MS)
        throw new BusyError(`${host} asks to wait for ${Math.ceil(waitMs / 1000)} seconds`);
      await delay(Math.min(waitMs, LOOK_AGAIN_MS), undefined, { signal: request.signal });
      await request.hold();
    }
    const ownMs = address.isInternal ? perHostMs : Math.max(MIN_DELAY_MS, perHostMs);
    let reply: PageReply | null = null;
    try {
      await request.hold();
      reply = await this.#request(address, request);
      return reply;
    } finally {
      const isRefused = reply?.status === 429 || reply?.status === 503;
      const askedMs = isRefused ? retryAfterMs(reply?.headers["retry-after"]) : 0;
      const pauseMs = Math.max(ownMs, askedMs, request.delayMs(address.url, reply));
      // From the end of the reply, so that a slow network brings no two requests closer together.
      await frontier.leave(host, Date.now() + pauseMs);
    }
  }

  async #request(address: RemoteAddress, request: PageRequest): Promise<PageReply> {
    const { etag, modified, maxBytes, accept } = request;
    // Node 20 may collect the signals of `AbortSignal.any` and `AbortSignal.timeout` before they fire.
    const controller = new AbortController();
    const { signal } = controller;
    const abort = () => controller.abort();
    const timer = setTimeout(abort, REQUEST_MS);
    request.signal.addEventListener("abort", abort);
    const headers = {
      Accept: accept || "*/*",
      "Accept-Encoding": "gzip, br, deflate",
      "User-Agent": this.#settings.userAgent,
      ...(etag !== null && { "If-None-Match": etag }),
      ...(modified !== null && { "If-Modified-Since": modified }),
    };
    let response: IncomingMessage | undefined;
    try {
      request.signal.throwIfAborted();
      const { forbidden, dnsServers } = this.#settings;
      const resolution = { ...(forbidden && { forbidden }), ...(dnsServers && { dnsServers }) };
      response = await requestRemote(address, { ...resolution, headers, idleMs: IDLE_MS, signal });
      // A proxy that changed the page answers with 203.
      const status = response.statusCode === 203 ? 200 : (response.statusCode ?? 0);
      const isRead = status === 200 && isAccepted(response.headers["content-type"], accept);
      const read = isRead
        ? await readBody(await decoded(response, maxBytes), maxBytes)
        : { body: Buffer.alloc(0), isCut: false };
      const robotsTags = response.headersDistinct["x-robots-tag"] ?? [];
      return { url: address.url, status, headers: response.headers, robotsTags, ...read };
    } catch (cause) {
      request.signal.throwIfAborted();
      if (cause instanceof PageError) throw cause;
      const reason = signal.aborted
        ? `no complete reply within ${REQUEST_MS / 1000} seconds`
        : isError(cause)
          ? cause.message
          : "no reply";
      if (response !== undefined) throw new PageError(reason, { cause });
      throw new UnreachableError(`${address.url.origin}: ${reason}`, { cause });
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", abort);
      response?.destroy();
    }
  }
}

/** What makes the next request for the page conditional. */
export function validatorsOf({ headers }: PageReply): { etag: string | null; modified: string | null } {
  return { etag: headers.etag ?? null, modified: headers["last-modified"] ?? null };
}

/** @param accept Media types; empty: any. */
export function isAccepted(contentType: string | undefined, accept: string): boolean {
  // Without a type, the reader may guess: RFC 9110 §8.3.
  const [type = ""] = (contentType ?? "text/html").split(";", 1);
  return accept === "" || accept.split(", ").includes(type.trim().toLowerCase());
}

async function decoded(response: IncomingMessage, maxBytes: number): Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return response;
  if (encoding !== "deflate" && !Object.hasOwn(DECODERS, encoding))
    throw new PageError(`the Content-Encoding ${encoding.slice(0, 20)}`);
  if (encoding === "deflate") {
    const { body } = await readBody(response, maxBytes);
    // Many servers leave out the head of the format.
    const decoder = ((body[0] ?? 0) & 0x0f) === 8 ? createUnzip() : createInflateRaw();
    return pipeline(Readable.from([body]), decoder, () => {});
  }
  // The reader of the result sees every failure.
  return pipeline(response, DECODERS[encoding as keyof typeof DECODERS](), () => {});
}

/** Reads at most so many bytes, decompressed. */
export async function readBody(
  source: Readable,
  maxBytes: number,
): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) return { body: Buffer.concat(chunks), isCut: true };
  }
  return { body: Buffer.concat(chunks), isCut: false };
}

/** Whether two hosts are of one registrable domain. */
function isSameSite(one: string, other: string): boolean {
  const site = (host: string) => getDomain(host, { allowPrivateDomains: true }) ?? host;
  return site(one) === site(other);
}

/** @param header Seconds, or a date. */
function retryAfterMs(header: string | undefined): number {
  const given = header ?? "";
  const ms = /^\d+$/.test(given.trim()) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_MS, Math.max(0, ms)) : 0;
}
