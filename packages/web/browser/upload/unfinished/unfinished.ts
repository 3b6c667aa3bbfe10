import { type ReadonlySignal, signal } from "@preact/signals";
import { createKeptUploads, type KeptMeta, type KeptUpload } from "../../saved/kept-uploads.ts";

/** Uploads that a closed window left unfinished, and those of this window, in case that it is closed. */
export interface Unfinished {
  /** What can be continued: uploads whose window is closed, and shared files. Oldest first. */
  offers: ReadonlySignal<readonly KeptUpload[]>;
  /** Keeps an upload of this window until `drop`. Does not delay the upload. */
  keep(key: string, meta: KeptMeta, file: File, chosen: File): void;
  drop(key: string): void;
  /** Takes offers into this window. @returns those that no other window took first. */
  take(uploads: readonly KeptUpload[]): Promise<KeptUpload[]>;
  discard(uploads: readonly KeptUpload[]): void;
  /** Reads the offers again. */
  refresh(): Promise<void>;
}

/** Many small files take one transaction, and a file that is uploaded in this time takes none. */
const BATCH_MS = 50;

/** @param baseUrl of the mount point; each service has its own uploads */
export function createUnfinished(baseUrl: string): Unfinished {
  const offers = signal<readonly KeptUpload[]>([]);
  // Without locks, nothing tells an unfinished upload from one that another window is sending.
  const locks = "locks" in navigator && "indexedDB" in globalThis ? navigator.locks : null;
  const kept = createKeptUploads(baseUrl);
  const owner = `outrigger ${baseUrl} ${crypto.getRandomValues(new Uint32Array(3)).join("-")}`;
  /** Uploads of this window. */
  const own = new Map<string, KeptUpload>();
  const saved = new Set<string>();
  let unsaved = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  let release: (() => void) | null = null;
  const watched = new Set<string>();

  function plan(key: string): void {
    if (locks === null) return;
    if (unsaved.size === 0) setTimeout(flush, BATCH_MS);
    unsaved.add(key);
  }

  /** Writes after one another. A failure leaves the uploads of this window without this safety, as before. */
  function flush(): void {
    const keys = [...unsaved];
    unsaved = new Set();
    if (keys.length === 0) return;
    last = last.then(() => save(keys)).catch(() => undefined);
  }

  async function save(keys: readonly string[]): Promise<void> {
    const present = keys.flatMap((key) => own.get(key) ?? []);
    const gone = keys.filter((key) => !own.has(key) && saved.delete(key));
    for (const { key } of present) saved.add(key);
    if (present.length > 0) await hold();
    if (present.length + gone.length > 0) await kept.change(present, gone);
    if (own.size > 0) return;
    // Browsers do not keep pages with locks in the back/forward cache.
    release?.();
    release = null;
  }

  /** Holds this window's lock until `release`. */
  async function hold(): Promise<void> {
    if (locks === null || release !== null) return;
    await new Promise<void>((resolve, reject) => {
      locks
        .request(
          owner,
          () =>
            new Promise<void>((free) => {
              release = free;
              resolve();
            }),
        )
        .catch(reject);
    });
  }

  async function refresh(): Promise<void> {
    if (locks === null) return;
    try {
      const uploads = (await kept.all()).filter((upload) => upload.owner !== owner);
      const held = new Set((await locks.query()).held?.map(({ name }) => name));
      offers.value = uploads.filter((upload) => !held.has(upload.owner));
      for (const { owner: other } of uploads) if (held.has(other)) void watch(locks, other);
    } catch {
      // The browser forbids storage: there is nothing to offer.
    }
  }

  /** Reads the offers again when another window ends its uploads, or is closed. */
  async function watch(manager: LockManager, other: string): Promise<void> {
    if (watched.has(other)) return;
    watched.add(other);
    await manager.request(other, { mode: "shared" }, () => undefined).catch(() => undefined);
    watched.delete(other);
    await refresh();
  }

  function withdraw(uploads: readonly KeptUpload[]): void {
    const keys = new Set(uploads.map(({ key }) => key));
    offers.value = offers.value.filter(({ key }) => !keys.has(key));
  }

  addEventListener("pagehide", flush);
  return {
    offers,
    keep(key, meta, file, chosen) {
      const before = own.get(key);
      if (before?.meta?.idempotencyKey === meta.idempotencyKey) return;
      const { name, size } = before?.chosen ?? chosen;
      own.set(key, { key, owner, chosen: { name, size }, file, meta, atMs: Date.now() });
      plan(key);
    },
    drop(key) {
      if (own.delete(key)) plan(key);
    },
    async take(uploads) {
      withdraw(uploads);
      await hold();
      // Without the database, the worst is that two windows send the same upload.
      const taken = await kept.take(uploads, owner).catch(() => [...uploads]);
      for (const upload of taken) {
        own.set(upload.key, upload);
        saved.add(upload.key);
      }
      return taken;
    },
    discard(uploads) {
      withdraw(uploads);
      const keys = uploads.map(({ key }) => key);
      last = last.then(() => kept.change([], keys)).catch(() => undefined);
    },
    refresh,
  };
}
