import { pipeline } from "node:stream";
import type { SpooledFile, UploadLimits } from "@outrigger/core";
import type multer from "multer";
import { createSpoolFile, removeFile, type SpoolFile } from "./spool-file.ts";
import { fileTooLarge } from "./upload-error.ts";

export interface SpoolStorage {
  /** For multer; takes one file. */
  engine: multer.StorageEngine;
  /** The file, which the caller disposes of; `null` when the body had none. */
  receivedFile(): Promise<SpooledFile | null>;
  /** Resolves when nothing is left of the file, whole or half. Never rejects. */
  discard(): Promise<void>;
}

/** A multer storage engine that spools into `directory`. One per request. */
export function createSpoolStorage(directory: string, limits: UploadLimits): SpoolStorage {
  let spool: SpoolFile | undefined;
  let part: { name: string; declaredType: string } | undefined;

  const engine: multer.StorageEngine = {
    _handleFile(_req, file, callback) {
      const target = createSpoolFile(directory);
      spool = target;
      part = { name: file.originalname, declaredType: file.mimetype };
      // The parser would read on to the end of the part, to throw it away.
      file.stream.once("limit", () => target.writable.destroy(fileTooLarge(limits)));
      pipeline(file.stream, target.writable, (error) => {
        // The descriptor is closed only when the writable is.
        if (target.writable.closed) callback(error);
        else target.writable.once("close", () => callback(error));
      });
    },
    _removeFile(_req, _file, callback) {
      // What is left is removed by discard(), which waits for it.
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

/** What the services get of a finished spool file. */
export function toSpooledFile(spool: SpoolFile, part: { name: string; declaredType: string }): SpooledFile {
  return {
    path: spool.path,
    name: part.name,
    declaredType: part.declaredType,
    ...spool.result(),
    dispose: () => removeFile(spool.path),
  };
}
