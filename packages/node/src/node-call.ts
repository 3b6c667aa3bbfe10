import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { BodyLimits, Call, TakeText, Upload, UploadLimits } from "@outrigger/core";
import { ClientLeftError, isConnectionLost, onConnectionClose } from "./connection-close.ts";
import { receiveFields, receiveText } from "./fields/receive-fields.ts";
import type { HostView, RequestFacts } from "./host-view.ts";
import { toOriginForm, unusualHost } from "./request-target.ts";
import { receiveUpload } from "./upload/receive-upload.ts";

/** A {@link Call} on a `node:http` request. Rarely used values are computed on first use. */
export class NodeCall<Context> implements Call {
  readonly path: string;
  readonly search: string;
  readonly mountPath: string;
  readonly context: Context;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #view: HostView<Context>;
  readonly #unusualHost: string | undefined;
  #headers: IncomingHttpHeaders | undefined;
  #controller: AbortController | undefined;
  /** Aborts the body that is being received. */
  #receiving: AbortController | undefined;
  #stopListening: (() => void) | undefined;
  #settled = false;

  constructor(req: IncomingMessage, res: ServerResponse, facts: RequestFacts<Context>) {
    const target = toOriginForm(facts.url) ?? "/";
    const query = target.indexOf("?");
    this.path = query === -1 ? target : target.slice(0, query);
    this.search = query === -1 ? "" : target.slice(query + 1);
    this.mountPath = facts.mountPath;
    this.context = facts.context;
    this.#req = req;
    this.#res = res;
    this.#view = facts.view;
    this.#unusualHost = unusualHost(req);
  }

  get method(): string {
    return this.#req.method ?? "GET";
  }

  get headers(): IncomingHttpHeaders {
    if (this.#unusualHost === undefined) return this.#req.headers;
    this.#headers ??= { ...this.#req.headers, host: this.#unusualHost };
    return this.#headers;
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

  text(types: readonly string[], limits: BodyLimits, take: TakeText): Promise<string | null> {
    const parsedBody = () => this.#view.parsedBody(this.context);
    return this.#receive((signal) => receiveText(this.#req, types, limits, take, signal, parsedBody));
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
