import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isServiceError, ServiceError, type Upload, type UploadLimits } from "@outrigger/core";
import { bytesText } from "@outrigger/core/values";
import { repairLatin1 } from "./names.ts";
import { SpoolFile } from "./spool-file.ts";
import { fileTooLarge, isFileField, noFile, notOneFile } from "./upload-error.ts";

/** A file that the host's multipart parser has received. */
export interface HostFile {
  /** Name of its part. */
  field: string;
  name: string;
  declaredType: string;
  /** The bytes, or the path of a file with them. */
  content: Uint8Array | { path: string };
}

/**
 * Finds the files in the results that a host's parser left on the request. Supports multer (memory and disk),
 * formidable, koa-body and express-fileupload.
 */
export function findHostFiles(left: readonly unknown[]): HostFile[] {
  const files: HostFile[] = [];
  const seen = new Set<unknown>();
  const visit = (value: unknown, field: string | undefined) => {
    // Some parsers store the same file in two places.
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const item of value) visit(item, field);
      return;
    }
    const file = readHostFile(new Map<string, unknown>(Object.entries(value)), value, field);
    if (file) files.push(file);
    else if (field === undefined) for (const [name, item] of Object.entries(value)) visit(item, name);
  };
  for (const value of left) visit(value, undefined);
  return files;
}

function readHostFile(own: Map<string, unknown>, raw: object, field: string | undefined): HostFile | null {
  const text = (...names: string[]) => {
    for (const name of names) {
      // Formidable's files are class instances, and some of their properties are getters of the class.
      const value = own.get(name) ?? Reflect.get(raw, name);
      if (typeof value === "string" && value !== "") return value;
    }
    return undefined;
  };
  const bytes = own.get("buffer") ?? own.get("data");
  const path = text("tempFilePath", "filepath", "path");
  const hasBytes = bytes instanceof Uint8Array && (bytes.length > 0 || path === undefined);
  if (!hasBytes && path === undefined) return null;
  const part = text("fieldname") ?? field;
  if (part === undefined) return null;
  return {
    field: part,
    name: text("originalname", "originalFilename", "name") ?? "",
    declaredType: readType(text("mimetype", "type")),
    content: hasBytes ? bytes : { path: path ?? "" },
  };
}

/** Parsers report a part without a type as `text/plain`, which no image has. */
export function readType(reported = ""): string {
  const type = reported.replace(/\s*;.*$/s, "").toLowerCase();
  return type === "text/plain" ? "" : type;
}

/** Copies the host's file to a spool file. The host's file is not changed. */
export async function copyHostUpload(
  files: readonly HostFile[],
  body: unknown,
  limits: UploadLimits,
  directory: string,
  signal: AbortSignal,
): Promise<Upload> {
  const [file] = files;
  if (files.length > 1) throw notOneFile(limits);
  if (file === undefined || !isFileField(file.field, limits.fileFields)) throw noFile(limits);
  const fields = readHostFields(body, limits);
  const spool = new SpoolFile(directory);
  try {
    await pipeline(openContent(file), (source) => limitSize(source, limits), spool, { signal });
  } catch (error) {
    await spool.discard();
    if (signal.aborted) throw signal.reason;
    if (isServiceError(error)) throw error;
    throw new ServiceError("host_misuse", "The file that the host app's upload parser left cannot be read", {
      cause: error,
    });
  }
  const { name, declaredType } = file;
  return { file: spool.toSpooledFile({ name: repairLatin1(name), declaredType }), fields };
}

function openContent(file: HostFile): Readable {
  const { content } = file;
  if (content instanceof Uint8Array) {
    return Readable.from([Buffer.from(content.buffer, content.byteOffset, content.byteLength)]);
  }
  return createReadStream(content.path, { highWaterMark: 1024 * 1024 });
}

async function* limitSize(source: AsyncIterable<Buffer>, limits: UploadLimits): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > limits.maxFileBytes) throw fileTooLarge(limits);
    yield chunk;
  }
}

function readHostFields(body: unknown, limits: UploadLimits): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  if (typeof body !== "object" || body === null) return fields;
  for (const [name, value] of Object.entries(body)) {
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    // Ignores trees that a parser built from names like a[b].
    if (typeof last !== "string") continue;
    if (Buffer.byteLength(last) > limits.maxFieldBytes) {
      throw new ServiceError("bad_request", `A text field is over ${bytesText(limits.maxFieldBytes)}`);
    }
    fields[name] = last;
  }
  return fields;
}
