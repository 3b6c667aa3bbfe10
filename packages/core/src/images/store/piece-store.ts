import { createReadStream, createWriteStream } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MetadataValue } from "@tus/s3-store";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { ServiceError, systemCode } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { makeDirectories, mapped } from "../../stores/fs/fs-files.ts";

const PLACE_RULES = {
  /**
   * Directory for the bytes of unfinished uploads, created if missing.
   * @default none: `s3` is given
   */
  directory: rules.text("the path of a directory"),
  /**
   * An S3 bucket of its own for them: its name, and the options of an S3 client, such as `{ bucket: "uploads", region: "eu-central-1" }`.
   * Needs the package `@tus/s3-store`.
   * @default none: `directory` is given
   */
  s3: rules.value<{ bucket: string; [option: string]: unknown }>(
    "an object with the name of a bucket",
    (given) => typeof Object(given).bucket === "string",
    true,
  ),
};

/** The place of unfinished uploads: a directory or a bucket. */
export interface ResumableUploadsOptions extends rules.Options<typeof PLACE_RULES> {}

/** The rule of the option `resumable`. */
export const RESUMABLE_RULE = rules.preset(
  false,
  rules.either("true, false, { directory } or { s3 }", PLACE_RULES, rules.flag()),
);

const S3_STORE = "@tus/s3-store";
/** The reason of 404 for an upload whose bytes something else removed. */
export const BYTES_GONE = "The bytes of this upload are gone";

/** Keeps the bytes of unfinished uploads, by IDs that are safe in file names. */
export interface PieceStore {
  begin(id: string, size: number): Promise<unknown>;
  /** Stores a piece as far as it arrives. @returns the offset that was reached. */
  write(piece: Readable, id: string, start: number): Promise<number>;
  /** Rejects with `not_found`. */
  getUpload(id: string): Promise<{ offset: number }>;
  read(id: string): Readable | Promise<Readable>;
  /** A missing upload is no error. */
  remove(id: string): Promise<void>;
}

/** What a data store creates an upload from. */
const newUpload = (id: string, size: number) => ({
  ...{ id, size, offset: 0, sizeIsDeferred: false },
  ...{ metadata: undefined, creation_date: undefined, storage: undefined },
});

/**
 * The function that opens the store of unfinished uploads; `null` if they are switched off.
 * @throws TypeError if no place is named, or its package is missing.
 */
export function choosePieces(
  option: boolean | rules.Checked<typeof PLACE_RULES>,
  { originals, records }: Record<"originals" | "records", BlobStore>,
): (() => Promise<PieceStore>) | null {
  if (option === false) return null;
  const local = [originals, records].find(isLocalStore);
  const beside = local && join(dirname(local.blobDirectory), "uploads");
  const { directory = undefined, s3 = undefined } = option === true ? { directory: beside } : option;
  if ((directory === undefined) === (s3 === undefined)) {
    const why = option === true ? ", because this storage is no directory" : "";
    throw new TypeError(`createImages: resumable must have a directory or s3${why}`);
  }
  if (s3 !== undefined) requirePackage();
  let opened: Promise<PieceStore> | null = null;
  return () => {
    const open = async () =>
      s3 === undefined ? mapped(async () => new Directory(resolve(directory ?? ""))) : openBucket(s3);
    opened ??= open().catch((error) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

function requirePackage(): void {
  try {
    createRequire(import.meta.url).resolve(S3_STORE);
  } catch (cause) {
    // In a bundle, there may be no place to look in.
    if (systemCode(cause) !== "MODULE_NOT_FOUND") return;
    throw new TypeError(`createImages: resumable needs ${S3_STORE}: run npm install ${S3_STORE}`, { cause });
  }
}

/** Bundlers demand packages that are imported, unless a failure is handled. */
function rethrow(error: unknown): never {
  throw error;
}

class Directory implements PieceStore {
  readonly #path: (id: string) => string;

  constructor(directory: string) {
    makeDirectories(directory);
    this.#path = (id) => join(directory, id);
  }

  begin(id: string): Promise<void> {
    return mapped(() => writeFile(this.#path(id), "", { flag: "wx" }));
  }

  async getUpload(id: string): Promise<{ offset: number }> {
    const found = await mapped(() => stat(this.#path(id)).catch(unlessMissing));
    if (found === null) throw new ServiceError("not_found", BYTES_GONE);
    return { offset: found.size };
  }

  read(id: string): Readable {
    return createReadStream(this.#path(id));
  }

  async write(piece: Readable, id: string, start: number): Promise<number> {
    const file = createWriteStream(this.#path(id), { flags: "r+", start });
    await mapped(() => pipeline(piece, file));
    return start + file.bytesWritten;
  }

  remove(id: string): Promise<void> {
    return mapped(() => rm(this.#path(id), { force: true }));
  }
}

function unlessMissing(error: unknown): null {
  if (systemCode(error) !== "ENOENT") throw error;
  return null;
}

async function openBucket(s3ClientConfig: { bucket: string }): Promise<PieceStore> {
  const { S3Store } = await import(/* webpackIgnore: true */ "@tus/s3-store").catch(rethrow);
  class Bucket extends S3Store implements PieceStore {
    /** Of each upload in use: the number of its last part, and the part that is sent. */
    readonly #last = new Map<string, number>();
    readonly #sent = new Map<string, Promise<string>>();

    begin = (id: string, size: number) => this.create(newUpload(id, size));

    override write(piece: Readable, id: string, start: number): Promise<number> {
      return this.#use(id, () => super.write(piece, id, start));
    }

    override getUpload(id: string) {
      return this.#use(id, async () => {
        // The original takes each failure of this for a missing upload, and aborted parts for a complete one.
        await this.getMetadata(id);
        const upload = await super.getUpload(id);
        if (upload.offset !== upload.size) return upload;
        await this.client.headObject({ Bucket: this.bucket, Key: id }).catch(async (error) => {
          if (error.name !== "NotFound") throw error;
          await super.write(Readable.from([]), id, upload.offset);
        });
        return upload;
      });
    }

    // The original keeps the objects of a complete upload, and beginnings of parts.
    override async remove(id: string): Promise<void> {
      await super.remove(id).catch((error) => {
        if (error.status_code !== 404) throw error;
      });
      const { Contents = [] } = await this.client.listObjectsV2({ Bucket: this.bucket, Prefix: id });
      const Objects = Contents.map(({ Key }) => ({ Key }));
      if (Objects.length > 0) await this.client.deleteObjects({ Bucket: this.bucket, Delete: { Objects } });
      await this.clearCache(id);
    }

    protected override uploadPart(metadata: MetadataValue, bytes: Readable | Buffer, number: number) {
      const { id } = metadata.file;
      return this.#inTurn(id, bytes, async () => {
        const tag = await super.uploadPart(metadata, bytes, number);
        await super.deleteIncompletePart(id).catch(() => undefined);
        this.#last.set(id, number);
        return tag;
      });
    }

    protected override uploadIncompletePart(id: string, bytes: Readable) {
      return this.#inTurn(id, bytes, () => super.uploadIncompletePart(id, bytes));
    }

    // The original deletes acknowledged bytes before the part with them is stored.
    protected override async deleteIncompletePart(): Promise<void> {}

    // The beginning of a part has the number of the part before, so that it does not count once its own part is stored.
    protected override partKey(id: string, isIncomplete = false): string {
      return isIncomplete ? `${id}.part${this.#last.get(id) ?? 0}` : id;
    }

    protected override async retrieveParts(id: string, after?: string) {
      const parts = await super.retrieveParts(id, after);
      if (after === undefined) this.#last.set(id, parts.at(-1)?.PartNumber ?? 0);
      return parts;
    }

    /** Sends a part once those before it are stored: after a lost part, the next would take its place. */
    #inTurn(id: string, bytes: Readable | Buffer, send: () => Promise<string>): Promise<string> {
      const before = this.#sent.get(id) ?? Promise.resolve();
      const sent = before.then(send).finally(() => bytes instanceof Readable && bytes.destroy());
      this.#sent.set(id, sent);
      return sent;
    }

    /** Another node may use the upload next, so nothing is cached for longer. */
    async #use<T>(id: string, work: () => Promise<T>): Promise<T> {
      try {
        return await work();
      } catch (error) {
        if (!["NoSuchKey", "NoSuchUpload"].includes(Object(error).name)) throw error;
        throw new ServiceError("not_found", BYTES_GONE, { cause: error });
      } finally {
        for (const cached of [this.#last, this.#sent]) cached.delete(id);
        await this.clearCache(id);
      }
    }
  }
  // Not every gateway takes a checksum after the bytes.
  return new Bucket({ s3ClientConfig: { requestChecksumCalculation: "WHEN_REQUIRED", ...s3ClientConfig } });
}
