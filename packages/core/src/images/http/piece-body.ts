import { PassThrough } from "node:stream";

/**
 * The bytes of a request on their way to a store. When the request breaks off, the stream ends without an error, so that the store keeps
 * what arrived. The first bytes are held back until they are checked.
 */
export class PieceBody {
  readonly stream = new PassThrough();
  /** Why the first bytes were refused; `null`: they were not. */
  refusal: unknown = null;
  readonly #check: (head: Buffer) => void;
  readonly #headBytes: number;
  readonly #start: number;
  /** The first bytes of the file; `null`: they are checked. */
  head: Buffer | null;

  /** @param begun The bytes before this body. @param headBytes Number to check; 0: none. @param check Throws for bytes that must not be stored. */
  constructor(begun: Buffer, headBytes: number, check: (head: Buffer) => void) {
    this.#check = check;
    this.#headBytes = headBytes;
    this.#start = begun.length;
    this.head = headBytes === 0 ? null : begun;
  }

  /** Passes a chunk on. Resolves when it was read; rejects if it will not be. */
  readonly take = async (received: Uint8Array): Promise<void> => {
    let chunk = received;
    if (this.head !== null) {
      const head = Buffer.concat([this.head, received]);
      this.head = head;
      if (head.length < this.#headBytes) return;
      this.#checkHead(head);
      chunk = head.subarray(this.#start);
    }
    await new Promise<void>((resolve, reject) => {
      if (this.stream.writableEnded) reject(new Error("The rest of the body is not read"));
      else this.stream.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
  };

  /** Ends the stream. Bytes that are too few to be checked are passed on. */
  readonly end = (): void => {
    if (!this.stream.writableEnded) this.stream.end(this.head?.subarray(this.#start));
  };

  #checkHead(head: Buffer): void {
    this.head = null;
    try {
      this.#check(head);
    } catch (error) {
      this.refusal = error;
      throw error;
    }
  }
}
