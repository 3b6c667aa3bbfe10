/** The fields of a request that repeats an upload. */
export interface KeptMeta {
  /** Lets the service recognise a retry as the same upload. */
  idempotencyKey: string;
  name: string;
  expiresAt: string;
}

/** An upload that this browser can continue after its window was closed, or a file that another app shared. */
export interface KeptUpload {
  key: string;
  /** Name of the Web Lock of its window, or the token of the share. */
  owner: string;
  /** Name and size of the file that the user chose. */
  chosen: { name: string; size: number };
  /** The bytes to send; `null` if the browser had no room for them. */
  file: File | null;
  /** `null`: a shared file that no window has sent yet. */
  meta: KeptMeta | null;
  /** Unix milliseconds of the first request with this meta, or of the share. */
  atMs: number;
}

/** Uploads in the browser's database. Every method rejects where the browser forbids storage. */
export interface KeptUploads {
  /** All uploads, oldest first. Overdue ones are deleted. */
  all(): Promise<KeptUpload[]>;
  /** Saves uploads, without their bytes where these find no room, and deletes others. */
  change(saved: readonly KeptUpload[], deleted: readonly string[]): Promise<void>;
  /** Gives uploads a new owner. @returns those that still had the same owner as before. */
  take(uploads: readonly KeptUpload[], owner: string): Promise<KeptUpload[]>;
}

const KEPT_MS = 3 * 86_400_000;
const MAX_BYTES = 200_000_000;
const MAX_UPLOADS = 1000;

/** Without the file, so that a new owner costs no copy of the bytes. */
type Row = Omit<KeptUpload, "file"> & { bytes: number };

const ROWS = "uploads";
const FILES = "files";

/** @param baseUrl of the mount point, as the page reaches it, without a trailing slash */
export function createKeptUploads(baseUrl: string): KeptUploads {
  let opened: Promise<IDBDatabase> | null = null;

  function database(): Promise<IDBDatabase> {
    opened ??= openDatabase(`outrigger uploads ${baseUrl}`);
    return opened;
  }

  async function begin(mode: IDBTransactionMode) {
    const transaction = (await database()).transaction([ROWS, FILES], mode);
    return { transaction, rows: transaction.objectStore(ROWS), files: transaction.objectStore(FILES) };
  }

  async function write(saved: readonly KeptUpload[], deleted: readonly string[]): Promise<void> {
    const { transaction, rows, files } = await begin("readwrite");
    for (const key of deleted) {
      rows.delete(key);
      files.delete(key);
    }
    const reading: IDBRequest<Row[]> = rows.getAll();
    reading.onsuccess = () => {
      const present = new Map(reading.result.map((row) => [row.key, row.bytes]));
      for (const { file, ...upload } of saved) {
        const others = [...present].filter(([key]) => key !== upload.key);
        const room = MAX_BYTES - others.reduce((sum, [, bytes]) => sum + bytes, 0);
        const bytes = file !== null && file.size <= room ? file.size : 0;
        if (others.length >= MAX_UPLOADS) continue;
        present.set(upload.key, bytes);
        rows.put({ ...upload, bytes } satisfies Row);
        if (bytes > 0) files.put(file, upload.key);
        else files.delete(upload.key);
      }
    };
    await finished(transaction);
  }

  return {
    async all() {
      const { transaction, rows, files } = await begin("readonly");
      const readRows: IDBRequest<Row[]> = rows.getAll();
      const readKeys = files.getAllKeys();
      const readFiles: IDBRequest<File[]> = files.getAll();
      await finished(transaction);
      const fileOf = new Map(readKeys.result.map((key, index) => [key, readFiles.result[index]]));
      const oldestMs = Date.now() - KEPT_MS;
      const overdue = readRows.result.filter(({ atMs }) => atMs < oldestMs);
      if (overdue.length > 0)
        await write(
          [],
          overdue.map(({ key }) => key),
        );
      return readRows.result
        .filter((row) => !overdue.includes(row))
        .sort((one, other) => one.atMs - other.atMs)
        .map(({ bytes: _bytes, ...row }) => ({ ...row, file: fileOf.get(row.key) ?? null }));
    },
    async change(saved, deleted) {
      // First without the bytes, which may find no room.
      await write(
        saved.map((upload) => ({ ...upload, file: null })),
        deleted,
      );
      if (saved.length === 0) return;
      try {
        await write(saved, []);
      } catch {
        // One file found no room, or cannot be read any more. The others are saved each on its own.
        for (const upload of saved) await write([upload], []).catch(() => undefined);
      }
    },
    async take(uploads, owner) {
      const { transaction, rows } = await begin("readwrite");
      const taken: KeptUpload[] = [];
      for (const upload of uploads) {
        const reading: IDBRequest<Row | undefined> = rows.get(upload.key);
        reading.onsuccess = () => {
          if (reading.result?.owner !== upload.owner) return;
          rows.put({ ...reading.result, owner });
          taken.push({ ...upload, owner });
        };
      }
      await finished(transaction);
      return taken;
    },
  };
}

function openDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(ROWS, { keyPath: "key" });
      opening.result.createObjectStore(FILES);
    };
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      // A later version of this page may change the database.
      opening.result.onversionchange = () => opening.result.close();
      resolve(opening.result);
    };
  });
}

function finished(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}
