import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { BodyLimits, BytesLimits, Call, Upload, UploadLimits } from "@outrigger/core";
import type { Incoming } from "@outrigger/node/adapter";
import {
  ClientLeftError,
  type HostParsed,
  linger,
  receiveBytes,
  receiveFields,
  receiveUpload,
} from "@outrigger/node/adapter";

/** What the host knows of a request. */
export interface RequestFacts {
  /** The request target below the mount point, with its query. */
  url: string;
  mountPath: string;
  context: unknown;
  isSecure(): boolean;
  /** Empty if unknown. */
  clientAddress(): string;
}

/** Hosts leave nothing of a body that they have read. */
const NOTHING_PARSED: HostParsed = { body: () => undefined, files: () => [] };

/** A {@link Call} on a web request. Rarely used values are computed on first use. */
export class FetchCall implements Call {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly mountPath: string;
  readonly context: unknown;
  readonly #request: Request;
  readonly #facts: RequestFacts;
  readonly #requestSignal: AbortSignal;
  #url: URL | undefined;
  #headers: IncomingHttpHeaders | undefined;
  #body: RequestBody | undefined;
  #controller: AbortController | undefined;
  #isSettled = false;

  constructor(request: Request, facts: RequestFacts) {
    const query = facts.url.indexOf("?");
    this.method = request.method.toUpperCase();
    this.path = query === -1 ? facts.url : facts.url.slice(0, query);
    this.search = query === -1 ? "" : facts.url.slice(query + 1);
    this.mountPath = facts.mountPath;
    this.context = facts.context;
    this.#request = request;
    this.#facts = facts;
    // Read at once: @hono/node-server makes it on first use, and then notices only later disconnects.
    this.#requestSignal = request.signal;
  }

  get headers(): IncomingHttpHeaders {
    this.#headers ??= { ...Object.fromEntries(this.#request.headers), host: this.#target.host };
    return this.#headers;
  }

  get origin(): string {
    return `${this.secure ? "https" : "http"}://${this.#target.host}`;
  }

  get secure(): boolean {
    return this.#facts.isSecure();
  }

  get clientIp(): string {
    return this.#facts.clientAddress();
  }

  /** A web request does not know its peer, so the host's word decides. The URL does not: its host is the client's choice. */
  get peerIp(): string {
    return this.#facts.clientAddress();
  }

  get signal(): AbortSignal {
    return (this.#controller ?? this.#watch()).signal;
  }

  upload(limits: UploadLimits): Promise<Upload> {
    return receiveUpload(this.#incoming, limits, this.signal, NOTHING_PARSED);
  }

  fields(limits: BodyLimits): Promise<Readonly<Record<string, unknown>> | null> {
    return receiveFields(this.#incoming, limits, this.signal, () => undefined);
  }

  bytes(limits: BytesLimits, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    return receiveBytes(this.#incoming, limits, take, this.signal, () => undefined);
  }

  /** Stops watching: the signal no longer aborts, because a client may disconnect after its reply. */
  settle(): void {
    this.#isSettled = true;
    if (this.#controller !== undefined) this.#requestSignal.removeEventListener("abort", this.#onAbort);
  }

  /**
   * Reads a bounded rest of the body in the background, for clients that read the reply only after they have sent it.
   *
   * @returns Resolves when the client has sent its body, at most after a second; never rejects. `undefined`: there is no rest.
   */
  drain(): Promise<void> | undefined {
    if (this.#request.body === null) return undefined;
    const body = this.#incoming;
    if (body.isTaken || body.readableEnded || body.destroyed) return undefined;
    return linger(body).then(() => void body.pause());
  }

  /** Whether `error` is the reason with which this call's signal aborted. */
  isAbort(error: unknown): boolean {
    const signal = this.#controller?.signal;
    return signal?.aborted === true && signal.reason === error;
  }

  get #target(): URL {
    this.#url ??= new URL(this.#request.url);
    return this.#url;
  }

  get #incoming(): RequestBody {
    this.#body ??= new RequestBody(this.#request, this.headers, (cause) => this.#abort(cause));
    return this.#body;
  }

  readonly #onAbort = () => this.#abort(this.#requestSignal.reason);

  #abort(cause: unknown): void {
    if (!this.#isSettled) this.#controller?.abort(new ClientLeftError({ cause }));
  }

  #watch(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    const signal = this.#requestSignal;
    if (this.#isSettled) return controller;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort);
    return controller;
  }
}

/**
 * A web request's body as the stream that the functions of `@outrigger/node` read. It locks the body when it is first
 * read. Destroying it does not cancel the body: hosts close the connection then, maybe before the client has the reply.
 */
class RequestBody extends Readable implements Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly isTaken: boolean;
  readonly #body: ReadableStream<Uint8Array> | null;
  readonly #onFailure: (error: unknown) => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  /** @param onFailure Called before `close` if the body breaks off, which means that the client disconnected. */
  constructor(request: Request, headers: IncomingHttpHeaders, onFailure: (error: unknown) => void) {
    super();
    this.#body = request.body;
    // A host may announce a body that it does not pass on, such as that of a GET request.
    this.headers = this.#body === null ? { ...headers, "content-length": "0" } : headers;
    this.isTaken = request.bodyUsed || this.#body?.locked === true;
    this.#onFailure = onFailure;
  }

  override _read(): void {
    void this.#pull();
  }

  async #pull(): Promise<void> {
    try {
      this.#reader ??= this.#body?.getReader();
      const next = await this.#reader?.read();
      if (this.destroyed) return;
      if (next === undefined || next.done) this.push(null);
      else this.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
    } catch (error) {
      this.#onFailure(error);
      // Without the error, as a request of node:http without a listener for it.
      this.destroy();
    }
  }
}
