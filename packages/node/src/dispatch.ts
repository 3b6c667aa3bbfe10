import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type {
  BodyLimits,
  BytesLimits,
  Call,
  ReadyReply,
  Reply,
  Service,
  Upload,
  UploadLimits,
} from "@outrigger/core";
import { ClientLeftError, isConnectionLost, onConnectionClose } from "./connections.ts";
import { receiveBytes, receiveFields } from "./receive-fields.ts";
import { toOriginForm, unusualHost } from "./request-target.ts";
import { dropCookies, dropLateCookies, watchSending } from "./send-reply.ts";
import { receiveUpload } from "./upload/receive-upload.ts";

/**
 * Passes a request to `service`.
 *
 * @param call The request's call, if the service had no reply at hand for it.
 * @returns The reply to send; `undefined` if the request is outside the service's routes (the adapter calls
 * the host's
 *   `next()`); `null` if the client has disconnected, so no reply can be sent.
 *   Rejects with errors that the service leaves to the host's error handling.
 */
export async function dispatch<Context>(
  service: Service,
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
  call = new NodeCall(req, res, facts),
): Promise<Reply | undefined | null> {
  if (facts.url === "*") return undefined;
  try {
    return await service.handle(call);
  } catch (error) {
    // The client disconnected, which is not a failure of the host.
    if (call.isAbort(error)) return null;
    // The host replies now. With a partly read body, the client would wait for ever.
    if (req.readableDidRead) req.resume();
    throw error;
  } finally {
    call.settle();
  }
}

/** Sends the reply of {@link Service.answerNow}, without a promise. */
export function sendReady(res: ServerResponse, { status, headers, body }: ReadyReply): void {
  if (isConnectionLost(res)) return;
  const isReplaced = Object.hasOwn(res, "writeHead");
  if (isReplaced || res.hasHeader("Set-Cookie")) {
    setHeaders(res, status, headers);
    dropCookies(res);
    if (isReplaced) dropLateCookies(res);
  }
  // The declared type of the list allows numbers and lists as values, and has no readonly form.
  else res.writeHead(status, headers as string[]);
  res.end(body);
  if (body !== undefined) watchSending(res, body.length);
}

/** For a `writeHead` of middleware, such as `compression`: many read a list of headers as pairs. */
function setHeaders(res: ServerResponse, status: number, headers: readonly string[]): void {
  res.statusCode = status;
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
}

/**
 * A {@link Call} on a `node:http` request, for passing it to a service without {@link dispatch}, or before it. Rarely used values
 * are computed on first use.
 */
export class NodeCall<Context> implements Call {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly search: string;
  readonly mountPath: string;
  readonly context: Context;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #view: HostView<Context>;
  readonly #unusualHost: string | undefined;
  #controller: AbortController | undefined;
  /** Aborts the body that is being received. */
  #receiving: AbortController | undefined;
  #stopListening: (() => void) | undefined;
  #settled = false;

  constructor(req: IncomingMessage, res: ServerResponse, facts: RequestFacts<Context>) {
    const host = unusualHost(req);
    this.method = req.method ?? "GET";
    this.headers = host === undefined ? req.headers : { ...req.headers, host };
    const target = toOriginForm(facts.url) ?? "/";
    const query = target.indexOf("?");
    this.path = query === -1 ? target : target.slice(0, query);
    this.search = query === -1 ? "" : target.slice(query + 1);
    this.mountPath = facts.mountPath;
    this.context = facts.context;
    this.#req = req;
    this.#res = res;
    this.#view = facts.view;
    this.#unusualHost = host;
  }

  get origin(): string {
    const protocol = this.#view.protocol(this.context);
    const host = this.#view.host(this.context);
    const unusual = this.#unusualHost;
    const isReplaced = unusual !== undefined && !(HOST.test(unusual) && this.#isForwarded(host));
    return formatOrigin(protocol, isReplaced ? unusual : host);
  }

  get secure(): boolean {
    return isSecure(this.#view.protocol(this.context));
  }

  get clientIp(): string {
    return this.#view.clientIp(this.context) ?? "";
  }

  get peerIp(): string {
    return this.#req.socket.remoteAddress ?? "";
  }

  get signal(): AbortSignal {
    return (this.#controller ?? this.#watch()).signal;
  }

  upload(limits: UploadLimits): Promise<Upload> {
    return this.#receive((signal) =>
      receiveUpload(this.#req, limits, signal, {
        body: () => this.#view.parsedBody(this.context),
        files: () => this.#view.parsedFiles(this.context),
      }),
    );
  }

  fields(limits: BodyLimits): Promise<Readonly<Record<string, unknown>> | null> {
    return this.#receive((signal) =>
      receiveFields(this.#req, limits, signal, () => this.#view.parsedBody(this.context)),
    );
  }

  bytes(limits: BytesLimits, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    const parsedBody = () => this.#view.parsedBody(this.context);
    return this.#receive((signal) => receiveBytes(this.#req, limits, take, signal, parsedBody));
  }

  /**
   * Stops watching: the signal no longer aborts, because a client may disconnect after its reply. A body that has not arrived
   * completely is no longer received.
   */
  settle(): void {
    this.#settled = true;
    this.#receiving?.abort(new ClientLeftError());
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Whether `error` is the reason with which this call's signal aborted. */
  isAbort(error: unknown): boolean {
    const signal = this.#controller?.signal;
    return signal?.aborted === true && signal.reason === error;
  }

  /** Receives the body until the client disconnects, or the service answers without it. */
  async #receive<T>(start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const receiving = new AbortController();
    this.#receiving = receiving;
    try {
      return await start(AbortSignal.any([this.signal, receiving.signal]));
    } finally {
      this.#receiving = undefined;
    }
  }

  /** Whether the framework took `host` from a proxy that it trusts. */
  #isForwarded(host: string | undefined): boolean {
    const { host: sent = "" } = this.#req.headers;
    // Koa cuts the header at a comma.
    return host !== undefined && host !== sent && host !== sent.split(",", 1)[0]?.trim();
  }

  #watch(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    if (this.#settled) return controller;
    const abort = () => controller.abort(new ClientLeftError());
    if (isConnectionLost(this.#res)) abort();
    else this.#stopListening = onConnectionClose(this.#res, abort);
    return controller;
  }
}

// RFC 3986 §3.2.2 without percent-encoding, plus the underscore that container networks use in names.
const HOST = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.~-]{1,253})(?::\d{1,5})?$/;

/**
 * `protocol://host`; empty if `host` does not match the grammar of a host, because it is used in links.
 */
function formatOrigin(protocol: string, host: string | undefined): string {
  if (host === undefined || !HOST.test(host)) return "";
  return `${isSecure(protocol) ? "https" : "http"}://${host}`;
}

/** Whether `protocol`, which may come from a proxy's header, is HTTPS. */
function isSecure(protocol: string): boolean {
  return protocol === "https" || protocol.toLowerCase() === "https";
}

/**
 * An adapter's view of its framework, as functions of the framework's own request or context. There is one
 * constant per adapter;
 * values are computed only when a request needs them.
 */
export interface HostView<Context> {
  /** `http` or `https`, according to the framework's proxy settings. */
  protocol(context: Context): string;
  /** `host` or `host:port`, according to the framework's proxy settings; absent if the request has none. */
  host(context: Context): string | undefined;
  /** The client's address, according to the framework's proxy settings. */
  clientIp(context: Context): string | undefined;
  /** Result of the host's own body parser, if any. */
  parsedBody(context: Context): unknown;
  /** Results of the host's own multipart parser, if any: files, lists of files, files by field name. */
  parsedFiles(context: Context): readonly unknown[];
}

/** Facts about a request that an adapter passes on. */
export interface RequestFacts<Context> {
  /** The request target below the mount point, with its query. */
  url: string;
  /** The mount point's path without a trailing slash; empty at the root. */
  mountPath: string;
  /** The framework's own request or context; becomes `call.context`. */
  context: Context;
  view: HostView<Context>;
}
