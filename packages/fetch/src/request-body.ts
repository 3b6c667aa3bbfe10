import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Incoming } from "@outrigger/node/adapter";

/**
 * A web request's body as the stream that the functions of `@outrigger/node` read. It locks the body when it is first
 * read. Destroying it does not cancel the body: hosts close the connection then, maybe before the client has the reply.
 */
export class RequestBody extends Readable implements Incoming {
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
