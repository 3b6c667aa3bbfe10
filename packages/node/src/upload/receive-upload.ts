import { EventEmitter } from "node:events";
import { pipeline, type Writable } from "node:stream";
import { ServiceError, type Upload, type UploadLimits } from "@outrigger/core";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import multer from "multer";
import { BodyPump } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { bodyTakenError, hasBody, isBodyTaken, parseMediaType, requirePlain } from "../incoming.ts";
import { copyHostUpload, findHostFiles } from "./host-upload.ts";
import { decodeFormName } from "./names.ts";
import { type PartHead, PartHeads } from "./part-heads.ts";
import { SpoolFile } from "./spool-file.ts";
import { fileTooLarge, isFileField, noFile, notOneFile, toUploadError } from "./upload-error.ts";

/** Results of the host's parser. */
export interface HostParsed {
  body(): unknown;
  files(): readonly unknown[];
}

// RFC 2046 §5.1.1.
const MAX_BOUNDARY_LENGTH = 70;
// Allowance for boundaries, part headers and an epilogue, in addition to the file and the fields.
const OVERHEAD_BYTES = 64 * 1024;

/** Implements `Call.upload`. */
export async function receiveUpload(
  req: Incoming,
  limits: UploadLimits,
  signal: AbortSignal,
  host: HostParsed,
): Promise<Upload> {
  const boundary = readBoundary(req);
  const directory = limits.spoolDirectory ?? systemTemporaryDirectory();
  if (isBodyTaken(req)) {
    const files = findHostFiles(host.files());
    if (files.length === 0) throw bodyTakenError();
    await limits.slot?.wait(signal);
    return copyHostUpload(files, host.body(), limits, directory, signal);
  }
  if (hasBody(req) === false) throw new ServiceError("bad_request", "The request has no body");
  const maxBodyBytes = limits.maxFileBytes + limits.maxFields * limits.maxFieldBytes + OVERHEAD_BYTES;
  if (Number(req.headers["content-length"]) > maxBodyBytes) {
    throw fileTooLarge(limits);
  }
  await limits.slot?.wait(signal);
  return new MultipartReading(req, limits, { directory, boundary, maxBodyBytes }, signal).read();
}

/** The boundary of a multipart body. Throws for a body of another type. */
function readBoundary(req: Incoming): string {
  requirePlain(req);
  const header = req.headers["content-type"];
  const type = parseMediaType(header);
  if (type?.essence !== "multipart/form-data") {
    // Malformed parameters make the essence empty, but the client clearly meant multipart/form-data.
    if (/^\s*multipart\/form-data\s*;/i.test(header ?? "")) {
      throw new ServiceError("bad_request", "The Content-Type is malformed");
    }
    throw new ServiceError("unsupported_media", "The body must be multipart/form-data");
  }
  const boundary = type.parameters.get("boundary");
  if (!boundary) throw new ServiceError("bad_request", "The Content-Type has no boundary");
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    throw new ServiceError("bad_request", `The boundary is longer than ${MAX_BOUNDARY_LENGTH} characters`);
  }
  return boundary;
}

const FIELD_NAME_LENGTH = 100;

/**
 * Multer's middleware with the types that it really needs; its published types accept only Express requests.
 */
type MulterMiddleware = (req: unknown, res: null, next: (error?: unknown) => void) => void;

type MulterUpload = Parameters<multer.StorageEngine["_handleFile"]>[1];

interface MultipartBounds {
  /** Of the spool file. */
  directory: string;
  boundary: string;
  maxBodyBytes: number;
}

/**
 * One multipart body with one file, which is read through multer.
 *
 * Multer reads a stand-in for the request, fed from it chunk by chunk. Given the request itself it would, on any error,
 * first drain all that the client still wants to send (expressjs/multer#344).
 */
class MultipartReading {
  readonly #req: Incoming;
  readonly #limits: UploadLimits;
  readonly #bounds: MultipartBounds;
  readonly #signal: AbortSignal;
  readonly #heads: PartHeads;
  readonly #fields: Record<string, string> = Object.create(null);
  /** Not readable, so multer reports errors at once and does not drain; `error` aborts it. */
  readonly #source: EventEmitter;
  #pump: BodyPump | undefined;
  /**
   * The first fault that an event of the parser showed. Reported after the parser has returned: it does not expect to be
   * destroyed from within.
   */
  #fault: unknown;
  #parts = 0;
  #part: { name: string; declaredType: string } | undefined;
  /** Why a part that could have been the file is none. */
  #misfit: string | undefined;
  #spool: SpoolFile | undefined;

  constructor(req: Incoming, limits: UploadLimits, bounds: MultipartBounds, signal: AbortSignal) {
    this.#req = req;
    this.#limits = limits;
    this.#bounds = bounds;
    this.#signal = signal;
    const { boundary } = bounds;
    this.#heads = new PartHeads(boundary, limits.maxFieldBytes, (head) => this.#isWanted(head));
    this.#source = Object.assign(new EventEmitter(), {
      headers: {
        // Multer takes a header with an empty parameter for one of another type.
        "content-type": `multipart/form-data; boundary="${boundary.replace(/["\\]/g, "\\$&")}"`,
        // Multer does not expect a body of HTTP/2, which may have neither a length nor an encoding.
        "transfer-encoding": "chunked",
      },
      readable: false,
      readableEnded: true,
      unpipe() {},
      resume() {},
    });
  }

  /** Resolves when the file is complete. Rejects when it is deleted, with `bad_request` without a file. */
  async read(): Promise<Upload> {
    const { maxFileBytes, maxFields, maxFieldBytes } = this.#limits;
    const options = {
      storage: {
        _handleFile: this.#handleFile,
        // `discard` deletes the file and waits for it.
        _removeFile: (_req, _file, callback) => callback(null),
      } satisfies multer.StorageEngine,
      limits: {
        fileSize: maxFileBytes,
        files: 1,
        fields: maxFields,
        parts: maxFields + 1,
        fieldSize: maxFieldBytes,
        fieldNameSize: FIELD_NAME_LENGTH,
      },
      defParamCharset: "utf8",
      // Missing from the published types.
      streamHandler: this.#feed,
    };
    // The types require an Express request; at run time multer accepts any object with headers and events.
    const middleware = multer(options).single("file") as unknown as MulterMiddleware;
    try {
      await new Promise<void>((resolve, reject) => {
        middleware(this.#source, null, (error) => {
          this.#pump?.stop();
          if (error === undefined || error === null) resolve();
          else reject(error);
        });
      });
      if (this.#spool === undefined || this.#part === undefined) throw noFile(this.#limits, this.#misfit);
      return { file: this.#spool.toSpooledFile(this.#part), fields: this.#fields };
    } catch (error) {
      await this.#spool?.discard();
      throw toUploadError(error, this.#limits);
    }
  }

  /** Whether the parser gets a part: text fields, and the file. Throws for a second file. */
  #isWanted(head: PartHead | null): boolean {
    const { fileFields, maxFields } = this.#limits;
    // Each text field may have a part beside it that is dropped.
    if (++this.#parts > 2 * maxFields + 1) {
      throw new ServiceError("bad_request", `The body has more than ${2 * maxFields + 1} parts`);
    }
    if (head === null) {
      this.#misfit ??= "A part has no Content-Disposition: form-data";
      return false;
    }
    const { name, fileName, type } = head;
    if (fileName === null) {
      const isText = type === "" || type.startsWith("text/") || type === "application/json";
      if (isText && (fileFields === "any" || !fileFields.includes(name))) return true;
      this.#misfit ??= `The part "${name.slice(0, FIELD_NAME_LENGTH)}" has no file name, so it is not a file`;
      return false;
    }
    if (fileName === "") {
      if (isFileField(name, fileFields))
        this.#misfit ??= `The part "${name}" has an empty file name: no file was chosen`;
      return false;
    }
    if (!isFileField(name, fileFields) || this.#part !== undefined) throw notOneFile(this.#limits);
    this.#limits.checkType?.(type);
    this.#part = { name: fileName, declaredType: type };
    return true;
  }

  readonly #handleFile = (_req: unknown, file: MulterUpload, callback: (error?: unknown) => void): void => {
    const spool = new SpoolFile(this.#bounds.directory);
    this.#spool = spool;
    // Otherwise the parser would read the part to its end and discard it.
    file.stream.once("limit", () => spool.destroy(fileTooLarge(this.#limits)));
    pipeline(file.stream, spool, (error) => {
      // The descriptor is closed only once the file is.
      if (spool.closed) callback(error);
      else spool.once("close", () => callback(error));
    });
  };

  readonly #fail = (error: unknown): void => void this.#source.emit("error", error);

  /** Pumps the body into the parser. */
  readonly #feed = (_source: unknown, parser: Writable): void => {
    parser.on("field", (name?: string, value?: unknown) => this.#addField(name, value));
    parser.on("drain", () => this.#pump?.resume());
    const limits = { ...this.#limits, maxBytes: this.#bounds.maxBodyBytes };
    this.#pump = new BodyPump(this.#req, limits, this.#signal, {
      write: (chunk) => {
        let wantsMore = true;
        try {
          for (const piece of this.#heads.push(chunk)) wantsMore = parser.write(piece);
        } catch (error) {
          this.#fault ??= error;
        }
        if (this.#fault !== undefined) this.#fail(this.#fault);
        return wantsMore;
      },
      end: () => parser.end(),
      fail: this.#fail,
    });
  };

  #addField(name: string | undefined, value: unknown): void {
    // Multer itself rejects a name that is too long.
    if (name === undefined) return;
    if (typeof value === "string") {
      // Names like a[b] stay unchanged: brackets never create a list or a tree.
      this.#fields[decodeFormName(name)] = value;
    } else this.#fault ??= new ServiceError("bad_request", "A text field has an unknown charset");
  }
}
