import { pipeline } from "node:stream";
import type { SpooledFile, UploadLimits } from "@outrigger/core";
import type multer from "multer";
import { createSpoolFile, removeFile, type SpoolFile } from "./spool-file.ts";
import { fileTooLarge } from "./upload-error.ts";

export interface SpoolStorage {
  /** Storage engine for multer. It accepts one file. */
  engine: multer.StorageEngine;
  /** Returns the file, which the caller must dispose of; `null` if the body had none. */
  receivedFile(): Promise<SpooledFile | null>;
  /** Deletes the file, complete or not, and resolves when it is gone. Never rejects. */
  discard(): Promise<void>;
}

/** Creates a multer storage engine that spools to `directory`, for one request. */
export function createSpoolStorage(directory: string, limits: UploadLimits): SpoolStorage {
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

/** Converts a finished spool file to the file that services receive. */
export function toSpooledFile(spool: SpoolFile, part: { name: string; declaredType: string }): SpooledFile {
  return {
    path: spool.path,
    name: part.name,
    declaredType: part.declaredType,
    ...spool.result(),
    dispose: () => removeFile(spool.path),
  };
}
