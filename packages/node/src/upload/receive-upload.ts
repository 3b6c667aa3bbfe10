import { EventEmitter } from "node:events";
import { pipeline, type Writable } from "node:stream";
import { ServiceError, type Upload, type UploadLimits } from "@outrigger/core";
import { systemTemporaryDirectory } from "@outrigger/core/stores";
import multer from "multer";
import { BodyPump } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { bodyTakenError, hasBody, isBodyTaken, parseMediaType } from "../incoming.ts";
import { copyHostUpload, findHostFiles } from "./host-upload.ts";
import { decodeFormName, Utf8Witness } from "./names.ts";
import { SpoolFile } from "./spool-file.ts";
import { fileTooLarge, noFile, toUploadError } from "./upload-error.ts";

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
  checkMediaType(req);
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
    throw new ServiceError("too_large", `The file is over the limit of ${limits.maxFileBytes} bytes`);
  }
  await limits.slot?.wait(signal);
  return receiveMultipart(req, limits, { directory, maxBodyBytes }, signal);
}

function checkMediaType(req: Incoming): void {
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media", "A body with a Content-Encoding is not accepted");
  }
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
}

// The parser rejects a part with longer headers.
const PART_HEADER_BYTES = 16 * 1024;
const FIELD_NAME_LENGTH = 100;
const HEADER_PAIRS = 20;
/** The type that the parser reports for a part without one. */
const PARSER_DEFAULT_TYPE = "text/plain";

/**
 * Multer's middleware with the types that it really needs; its published types accept only Express requests.
 */
type MulterMiddleware = (req: unknown, res: null, next: (error?: unknown) => void) => void;

type MulterUpload = Parameters<multer.StorageEngine["_handleFile"]>[1];

/** Receives a multipart body with one file through multer. Settles when the file is complete or deleted. */
async function receiveMultipart(
  req: Incoming,
  limits: UploadLimits,
  bounds: MultipartBounds,
  signal: AbortSignal,
): Promise<Upload> {
  const reading = new MultipartReading(req, limits, bounds, signal);
  try {
    return await reading.read();
  } catch (error) {
    await reading.spool?.discard();
    throw toUploadError(error, limits);
  }
}

interface MultipartBounds {
  /** Of the spool file. */
  directory: string;
  maxBodyBytes: number;
}

/**
 * One multipart body that is being read.
 *
 * Multer reads a stand-in for the request, fed from it chunk by chunk. Given the request itself it would, on any error,
 * first drain all that the client still wants to send (expressjs/multer#344).
 */
class MultipartReading {
  readonly #req: Incoming;
  readonly #limits: UploadLimits;
  readonly #bounds: MultipartBounds;
  readonly #signal: AbortSignal;
  readonly #witness: Utf8Witness;
  readonly #fields: Record<string, string> = Object.create(null);
  /** Not readable, so multer reports errors at once and does not drain; `error` aborts it. */
  readonly #source: EventEmitter;
  #pump: BodyPump | undefined;
  /** Aborts the parser if the last part has no end. */
  #endTimer: NodeJS.Timeout | undefined;
  /**
   * The first fault that an event of the parser showed. Reported after the parser has returned: it does not expect to be
   * destroyed from within.
   */
  #fault: unknown;
  #part = { name: "", declaredType: "" };
  spool: SpoolFile | undefined;

  constructor(req: Incoming, limits: UploadLimits, bounds: MultipartBounds, signal: AbortSignal) {
    this.#req = req;
    this.#limits = limits;
    this.#bounds = bounds;
    this.#signal = signal;
    this.#witness = new Utf8Witness(PART_HEADER_BYTES + limits.maxFieldBytes);
    this.#source = Object.assign(new EventEmitter(), {
      // Multer does not expect a body of HTTP/2, which may have neither a length nor an encoding.
      headers: { "content-type": req.headers["content-type"], "transfer-encoding": "chunked" },
      readable: false,
      readableEnded: true,
      unpipe() {},
      resume() {},
    });
  }

  /** Resolves when multer has read the body. Rejects with `bad_request` without a file. */
  async read(): Promise<Upload> {
    const { maxFileBytes, maxFields, maxFieldBytes, fileField } = this.#limits;
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
        headerPairs: HEADER_PAIRS,
      },
      defParamCharset: "utf8",
      // Missing from the published types.
      streamHandler: this.#feed,
    };
    // The types require an Express request; at run time multer accepts any object with headers and events.
    const middleware = multer(options).single(fileField) as unknown as MulterMiddleware;
    await new Promise<void>((resolve, reject) => {
      middleware(this.#source, null, (error) => {
        this.#pump?.stop();
        clearTimeout(this.#endTimer);
        this.#signal.removeEventListener("abort", this.#onAbort);
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
    if (this.spool === undefined) throw noFile(this.#limits);
    return { file: this.spool.toSpooledFile(this.#part), fields: this.#fields };
  }

  readonly #handleFile = (_req: unknown, file: MulterUpload, callback: (error?: unknown) => void): void => {
    const spool = new SpoolFile(this.#bounds.directory);
    this.spool = spool;
    this.#part.name = file.originalname;
    // Otherwise the parser would read the part to its end and discard it.
    file.stream.once("limit", () => spool.destroy(fileTooLarge(this.#limits)));
    pipeline(file.stream, spool, (error) => {
      // The descriptor is closed only once the file is.
      if (spool.closed) callback(error);
      else spool.once("close", () => callback(error));
    });
  };

  readonly #fail = (error: unknown): void => void this.#source.emit("error", error);
  readonly #onAbort = (): void => this.#fail(this.#signal.reason);

  /** Pumps the body into the parser. */
  readonly #feed = (_source: unknown, parser: Writable): void => {
    parser.on("field", (name?: string, value?: unknown) => this.#check(() => this.#addField(name, value)));
    parser.on("file", (_name: unknown, _stream: unknown, info: { filename?: string; mimeType: string }) =>
      this.#check(() => {
        const isTyped =
          info.mimeType !== PARSER_DEFAULT_TYPE || declaresType(this.#witness.recent(), this.#req);
        this.#part.declaredType = isTyped ? info.mimeType : "";
        this.#witness.check(info.filename ?? "", "The file name");
      }),
    );
    parser.on("drain", () => this.#pump?.resume());
    const limits = { ...this.#limits, maxBytes: this.#bounds.maxBodyBytes };
    this.#pump = new BodyPump(this.#req, limits, this.#signal, {
      write: (chunk) => {
        this.#witness.remember(chunk);
        const wantsMore = parser.write(chunk);
        if (this.#fault !== undefined) this.#fail(this.#fault);
        return wantsMore;
      },
      end: () => {
        parser.end();
        // A body may start another part after its last boundary, and the parser would wait for the end of that part for ever.
        this.#endTimer = setTimeout(() => {
          this.#fail(new ServiceError("bad_request", "Malformed multipart body: a part has no end"));
        }, this.#limits.idleMs);
        this.#signal.addEventListener("abort", this.#onAbort);
      },
      fail: this.#fail,
    });
  };

  #check(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fault ??= error;
    }
  }

  #addField(name: string | undefined, value: unknown): void {
    // Multer itself rejects a part without a name.
    if (name === undefined) return;
    if (name === this.#limits.fileField) {
      throw new ServiceError("bad_request", `The part "${name}" has no file name, so it is not a file`);
    }
    if (typeof value !== "string") {
      throw new ServiceError("bad_request", "A text field has an unknown charset");
    }
    this.#witness.check(name, "The name of a text field");
    this.#witness.check(value, "A text field");
    // Names like a[b] stay unchanged: brackets never create a list or a tree.
    this.#fields[decodeFormName(name)] = value;
  }
}

/**
 * Whether the newest file part has a Content-Type header. Its headers are in `recent`, and no part before it has a file
 * name.
 */
function declaresType(recent: Buffer, req: Incoming): boolean {
  const boundary = parseMediaType(req.headers["content-type"])?.parameters.get("boundary");
  const parts = recent.toString("latin1").split(`--${boundary}\r\n`);
  const heads = parts.slice(1).map((part) => part.split("\r\n\r\n", 1)[0] ?? "");
  const head = heads.find((lines) => /^content-disposition:.*\bfilename/ims.test(lines));
  return head === undefined || /^content-type[\t ]*:/im.test(head);
}
