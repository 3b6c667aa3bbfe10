import { EventEmitter } from "node:events";
import { pipeline, type Writable } from "node:stream";
import { ServiceError, type SpooledFile, type Upload, type UploadLimits } from "@outrigger/core";
import multer from "multer";
import { type BodyPump, pumpBody } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { parseMediaType } from "../media-type.ts";
import { createUtf8Witness, decodeFormName, type Utf8Witness } from "./names.ts";
import { createSpoolFile, type SpoolFile, toSpooledFile } from "./spool-file.ts";
import { fileTooLarge, noFile, toUploadError } from "./upload-error.ts";

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

/**
 * Receives a multipart body with one file through multer. Settles when the file is complete or deleted.
 *
 * Multer reads a stand-in for the request, fed from it chunk by chunk. Given the request itself it would, on any error,
 * first drain all that the client still wants to send (expressjs/multer#344).
 */
export async function receiveMultipart(
  req: Incoming,
  limits: UploadLimits,
  bounds: { directory: string; maxBodyBytes: number },
  signal: AbortSignal,
): Promise<Upload> {
  const storage = createSpoolStorage(bounds.directory, limits);
  const fields: Record<string, string> = Object.create(null);
  const witness = createUtf8Witness(PART_HEADER_BYTES + limits.maxFieldBytes);
  try {
    const isTyped = await parseMultipart(
      req,
      limits,
      bounds.maxBodyBytes,
      signal,
      storage.engine,
      witness,
      fields,
    );
    const file = await storage.receivedFile();
    if (file === null) throw noFile(limits);
    return { file: isTyped ? file : { ...file, declaredType: "" }, fields };
  } catch (error) {
    await storage.discard();
    throw toUploadError(error, limits);
  }
}

/** Resolves to whether the file's part declares a type. */
function parseMultipart(
  req: Incoming,
  limits: UploadLimits,
  maxBodyBytes: number,
  signal: AbortSignal,
  engine: multer.StorageEngine,
  witness: Utf8Witness,
  fields: Record<string, string>,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let isTyped = true;
    let pump: BodyPump | undefined;
    let stopWaiting = () => {};
    const source = createSource(req);

    const feed = (_source: unknown, parser: Writable) => {
      // Recorded while the parser runs and reported after it returned: it does not expect to be destroyed
      // from within.
      let complaint: unknown;
      parser.on("field", (name: string | undefined, value: unknown) => {
        try {
          addField(fields, name, value, limits, witness);
        } catch (error) {
          complaint ??= error;
        }
      });
      parser.on("file", (_name: unknown, _stream: unknown, info: { filename?: string; mimeType: string }) => {
        try {
          isTyped = info.mimeType !== PARSER_DEFAULT_TYPE || declaresType(witness.recent(), req);
          witness.check(info.filename ?? "", "The file name");
        } catch (error) {
          complaint ??= error;
        }
      });
      parser.on("drain", () => pump?.resume());
      pump = pumpBody(req, { ...limits, maxBytes: maxBodyBytes }, signal, {
        write(chunk) {
          witness.remember(chunk);
          const wantsMore = parser.write(chunk);
          if (complaint !== undefined) source.emit("error", complaint);
          return wantsMore;
        },
        end() {
          parser.end();
          stopWaiting = limitWait(limits.idleMs, signal, (error) => source.emit("error", error));
        },
        fail: (error) => source.emit("error", error),
      });
    };

    const options = {
      storage: engine,
      limits: {
        fileSize: limits.maxFileBytes,
        files: 1,
        fields: limits.maxFields,
        parts: limits.maxFields + 1,
        fieldSize: limits.maxFieldBytes,
        fieldNameSize: FIELD_NAME_LENGTH,
        headerPairs: HEADER_PAIRS,
      },
      defParamCharset: "utf8",
      // Missing from the published types.
      streamHandler: feed,
    };
    // The types require an Express request; at run time multer accepts any object with headers and events.
    const middleware = multer(options).single(limits.fileField) as unknown as MulterMiddleware;
    middleware(source, null, (error) => {
      pump?.stop();
      stopWaiting();
      if (error === undefined || error === null) resolve(isTyped);
      else reject(error);
    });
  });
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

/**
 * Limits the time between the end of the body and the end of the parser. A body may start another part after its
 * last boundary, and the parser would wait for the end of that part for ever.
 */
function limitWait(idleMs: number, signal: AbortSignal, fail: (error: unknown) => void): () => void {
  const onAbort = () => fail(signal.reason);
  const onTimeout = () =>
    fail(new ServiceError("bad_request", "Malformed multipart body: a part has no end"));
  const timer = setTimeout(onTimeout, idleMs);
  signal.addEventListener("abort", onAbort);
  return () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}

/**
 * The stand-in for the request. It is not readable, so multer reports errors at once and does not drain;
 * `error` aborts it.
 */
function createSource(req: Incoming): EventEmitter {
  return Object.assign(new EventEmitter(), {
    // Multer does not expect a body of HTTP/2, which may have neither a length nor an encoding.
    headers: { "content-type": req.headers["content-type"], "transfer-encoding": "chunked" },
    readable: false,
    readableEnded: true,
    unpipe() {},
    resume() {},
  });
}

function addField(
  fields: Record<string, string>,
  name: string | undefined,
  value: unknown,
  limits: UploadLimits,
  witness: Utf8Witness,
): void {
  // Multer itself rejects a part without a name.
  if (name === undefined) return;
  if (name === limits.fileField) {
    throw new ServiceError("bad_request", `The part "${name}" has no file name, so it is not a file`);
  }
  if (typeof value !== "string") {
    throw new ServiceError("bad_request", "A text field has an unknown charset");
  }
  witness.check(name, "The name of a text field");
  witness.check(value, "A text field");
  // Names like a[b] stay unchanged: brackets never create a list or a tree.
  fields[decodeFormName(name)] = value;
}

interface SpoolStorage {
  /** Storage engine for multer. It accepts one file. */
  engine: multer.StorageEngine;
  /** Returns the file, which the caller must dispose of; `null` if the body had none. */
  receivedFile(): Promise<SpooledFile | null>;
  /** Deletes the file, complete or not, and resolves when it is gone. Never rejects. */
  discard(): Promise<void>;
}

/** Creates a multer storage engine that spools to `directory`, for one request. */
function createSpoolStorage(directory: string, limits: UploadLimits): SpoolStorage {
  let spool: SpoolFile | undefined;
  let part: { name: string; declaredType: string } | undefined;

  const engine: multer.StorageEngine = {
    _handleFile(_req, file, callback) {
      const target = createSpoolFile(directory);
      spool = target;
      part = { name: file.originalname, declaredType: file.mimetype };
      // Otherwise the parser would read the part to its end and discard it.
      file.stream.once("limit", () => target.writable.destroy(fileTooLarge(limits)));
      pipeline(file.stream, target.writable, (error) => {
        // The descriptor is closed only once the writable is.
        if (target.writable.closed) callback(error);
        else target.writable.once("close", () => callback(error));
      });
    },
    _removeFile(_req, _file, callback) {
      // discard() deletes the file and waits for it.
      callback(null);
    },
  };

  return {
    engine,
    async receivedFile() {
      return spool && part ? toSpooledFile(spool, part) : null;
    },
    async discard() {
      await spool?.discard();
    },
  };
}
