import { existsSync, rmSync, statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import type {
  BlobInfo,
  BlobStore,
  BulkRemoval,
  JointAdoption,
  ListOptions,
  LocalStore,
  NewContent,
  PutOptions,
  RevisionProbe,
} from "../../contracts/blob-store.ts";
import type { DueIndex } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import { checkBlobKey, checkListing, checkSegment, MAX_PAGE } from "../argument-checks.ts";
import { type NewFile, openBlob, openSpooled, writeTemporary } from "./fs-bytes.ts";
import { Chains } from "./fs-chain.ts";
import { FsDueIndex } from "./fs-due-index.ts";
import { type FileSystem, MarkerFiles, makeDirectories, mapped, storeError } from "./fs-files.ts";
import {
  chainDirectory,
  findHead,
  generationPath,
  type Head,
  isHead,
  type Probe,
  probeOf,
  revisionOf,
  shardOf,
  type Version,
} from "./fs-generations.ts";
import { listKeys } from "./fs-list.ts";
import { ChainRemoval } from "./fs-removal.ts";
import { readOrCreateSecret, readSecret } from "./fs-secret.ts";
import { SupersededIndex } from "./fs-superseded.ts";
import { TemporaryDirectory } from "./fs-temporary.ts";

const MAX_PROBES = 10_000;

/** Losing a race this often means that the cause is not other writers. */
const MAX_ATTEMPTS = 1000;

/** A directory as a store, with all optional abilities of one. */
export interface FsBlobStore
  extends BlobStore,
    LocalStore,
    JointAdoption,
    RevisionProbe,
    DueIndex,
    BulkRemoval {}

/** Its members are own properties, so that a wrapper can spread it. See fs-blob-store.ts. */
export class DirectoryStore implements FsBlobStore {
  declare readonly spoolDirectory: string;
  readonly blobDirectory: string;
  readonly secretPath: string;
  readonly #files: FileSystem;
  readonly #temporary: TemporaryDirectory;
  readonly #superseded: SupersededIndex;
  readonly #removal: ChainRemoval;
  readonly #chains: Chains;
  readonly #due: FsDueIndex;
  readonly #probes = new LRUCache<string, Probe & { key: string }>({ max: MAX_PROBES });
  #isClosed = false;

  constructor(directory: string, files: FileSystem) {
    this.blobDirectory = join(directory, "blobs");
    this.secretPath = join(directory, "secret");
    this.#files = files;
    const temporary = temporaryIn(directory, this.blobDirectory);
    this.#temporary = temporary;
    Object.defineProperty(this, "spoolDirectory", { enumerable: true, get: () => temporary.path() });
    const markers = new MarkerFiles(directory, () => temporary.newPath());
    this.#superseded = new SupersededIndex(directory, this.blobDirectory, markers);
    this.#removal = new ChainRemoval(this.blobDirectory, temporary, files);
    this.#chains = new Chains({
      root: this.blobDirectory,
      files,
      markers,
      temporary,
      removal: this.#removal,
      superseded: this.#superseded,
    });
    this.#due = new FsDueIndex(directory, markers, files);
  }

  readonly put: FsBlobStore["put"] = (key, body, options = {}) =>
    mapped(async () => {
      // Until `pipeline` attaches its listener, an error of the body would be unhandled and end the
      // process.
      if (body instanceof Readable) body.on("error", () => undefined);
      try {
        const base = this.#baseOf(key);
        // An early check that saves a useless write; `publish` checks again.
        this.#headFor(base, options);
        const file = await writeTemporary(this.#temporary.newPath(), body, this.#files, options.signal);
        try {
          return await this.#publish(base, file, options);
        } finally {
          // A file that cannot be deleted goes with the other temporary files at the next start. The blob
          // is not affected.
          await unlink(file.path).catch(() => undefined);
        }
      } finally {
        if (body instanceof Readable) body.destroy();
      }
    });

  readonly adopt: FsBlobStore["adopt"] = (key, path, options = {}) =>
    mapped(async () => {
      const base = this.#baseOf(key);
      this.#headFor(base, options);
      return this.#publish(base, openSpooled(path, this.#files), options);
    });

  readonly adoptTogether = <Name extends string>(
    prefix: string,
    blobs: Record<Name, NewContent>,
    { signal }: Pick<PutOptions, "signal"> = {},
  ) =>
    mapped(async () => {
      const names = Object.keys(blobs) as Name[]; // Its own keys.
      checkListing(prefix, MAX_PAGE);
      for (const segment of [prefix.slice(0, -1), ...names]) checkSegment(segment);
      const directory = this.#baseOf(prefix.slice(0, -1));
      signal?.throwIfAborted();
      const opened: { name: Name; file: NewFile }[] = [];
      try {
        for (const name of names) opened.push({ name, file: await this.#openNew(blobs[name], signal) });
        const chains = await this.#chains.createTogether(directory, opened, signal);
        const infos = chains.map(({ name, file, version }) => [name, infoOf(file, version)]);
        return Object.fromEntries(infos) as Record<Name, BlobInfo>; // One for each name.
      } catch (error) {
        for (const { file } of opened) rmSync(file.path, { force: true });
        throw error;
      } finally {
        for (const { file } of opened) await file.close();
      }
    });

  readonly get: FsBlobStore["get"] = (key, options = {}) =>
    mapped(async () => this.#found(await openBlob(this.#baseOf(key), options)));

  readonly stat: FsBlobStore["stat"] = (key) =>
    mapped(async () => {
      const head = this.#found(findHead(this.#baseOf(key)));
      return head === null ? null : { size: head.size, revision: revisionOf(head) };
    });

  readonly localPath: FsBlobStore["localPath"] = (key) =>
    mapped(async () => {
      const base = this.#baseOf(key);
      const head = this.#found(findHead(base));
      return head === null ? null : generationPath(base, head);
    });

  readonly isCurrent: FsBlobStore["isCurrent"] = (key, revision) => {
    try {
      const probe = this.#probeFor(key, revision);
      return probe !== null && isHead(probe);
    } catch {
      // The key or the disk cannot be read: `get` rejects with the reason.
      return false;
    }
  };

  readonly delete: FsBlobStore["delete"] = (key) =>
    mapped(async () => this.#found(await this.#chains.remove(this.#baseOf(key))));

  readonly removeNamed: FsBlobStore["removeNamed"] = (prefix, names) =>
    mapped(async () => {
      this.#checkDirectory();
      for (const name of names) checkBlobKey(prefix + name);
      // The prefix without its slash is also a key.
      await this.#removal.removeNamed(this.#baseOf(prefix.slice(0, -1)), names);
    });

  readonly list = (prefix: string, options: ListOptions = {}) =>
    this.#whileOpen(() => listKeys(this.blobDirectory, prefix, options));
  readonly localSecret = () =>
    this.#whileOpen(() => readOrCreateSecret(this.secretPath, this.spoolDirectory, this.#files));
  readonly readLocalSecret = () => this.#whileOpen(() => readSecret(this.secretPath));
  readonly removeSuperseded: FsBlobStore["removeSuperseded"] = (beforeMs, mayGoOn) =>
    this.#whileOpen(() => this.#superseded.removeSuperseded(beforeMs, mayGoOn));
  readonly addDue: FsBlobStore["addDue"] = (list, entry, signal) =>
    this.#whileOpen(() => this.#due.addDue(list, entry, signal));
  readonly removeDue: FsBlobStore["removeDue"] = (list, entry) =>
    this.#whileOpen(() => this.#due.removeDue(list, entry));
  readonly listDue: FsBlobStore["listDue"] = (list, untilMs, limit) =>
    this.#whileOpen(() => this.#due.listDue(list, untilMs, limit));
  readonly close = async () => {
    if (!this.#isClosed) this.#temporary.release();
    this.#isClosed = true;
  };

  #checkOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  /** Rejects if the directory is gone, for example with its volume: then no blob can be found. */
  #checkDirectory(): void {
    const blobs = this.blobDirectory;
    if (existsSync(blobs)) return;
    try {
      statSync(blobs);
    } catch (cause) {
      throw new ServiceError("store_unavailable", `The data directory is gone: no ${blobs}`, { cause });
    }
  }

  /** The result for a key; `null` and `false` only if the directory exists. */
  #found<T>(result: T): T {
    if (result === null || result === false) this.#checkDirectory();
    return result;
  }

  #baseOf(key: string): string {
    checkBlobKey(key);
    this.#checkOpen();
    return `${this.blobDirectory}/${shardOf(key)}/${key}`;
  }

  /** Cached: a client that revalidates once usually does so on every request. Revisions are unique, so no entry goes stale. */
  #probeFor(key: string, revision: string): Probe | null {
    const known = this.#probes.get(revision);
    if (known?.key === key && !this.#isClosed) return known;
    const probe = probeOf(this.#baseOf(key), revision);
    if (probe !== null) this.#probes.set(revision, { key, ...probe });
    return probe;
  }

  #whileOpen<T>(work: () => Promise<T>): Promise<T> {
    return mapped(async () => {
      this.#checkOpen();
      this.#checkDirectory();
      return work();
    });
  }

  /** The blob that a write would replace, if its condition holds. */
  #headFor(base: string, { ifRevision, signal }: PutOptions): Head | null {
    signal?.throwIfAborted();
    const head = this.#found(findHead(base));
    if (ifRevision === undefined || ifRevision === (head === null ? null : revisionOf(head))) return head;
    throw new ServiceError("conflict", "The blob is not at the revision that the write expects");
  }

  /** Makes a new file the current blob of a key, and closes the file. */
  async #publish(base: string, file: NewFile, options: PutOptions): Promise<BlobInfo> {
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const head = this.#headFor(base, options);
        const version =
          head === null
            ? await this.#chains.create(base, file, options.mayBeLost ?? false)
            : await this.#chains.append(base, file, head, options);
        if (version !== null) return infoOf(file, version);
        // A cleaner deleted the file before it got its name.
        statSync(file.path);
      }
    } finally {
      await file.close();
    }
    const message = `The blob cannot be written: ${chainDirectory(base)} is in the way`;
    throw new ServiceError("store_unavailable", message);
  }

  async #openNew(content: NewContent, signal: AbortSignal | undefined): Promise<NewFile> {
    return "path" in content
      ? openSpooled(content.path, this.#files)
      : writeTemporary(this.#temporary.newPath(), content, this.#files, signal);
  }
}

function infoOf({ size, inode }: NewFile, version: Version): BlobInfo {
  return { size, revision: revisionOf({ ...version, inode }) };
}

/** Creates the directories, and returns this process's directory for temporary files. */
function temporaryIn(directory: string, blobs: string): TemporaryDirectory {
  try {
    for (const made of [blobs, join(directory, "superseded")]) makeDirectories(made);
    return new TemporaryDirectory(join(directory, "tmp"), blobs);
  } catch (error) {
    throw storeError(error);
  }
}
