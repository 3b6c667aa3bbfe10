import { signal } from "@preact/signals";
import type { Lifetime } from "./next-options.ts";

/** An upload of which the service has a part. */
export interface UnfinishedUpload {
  /** Key of its entry on the page. */
  key: string;
  /** ID at the service; a secret. */
  uploadId: string;
  /** Name of the image. */
  name: string;
  /** By which its file is recognised. */
  fingerprint: string;
  /** The lifetime that was chosen for it, as text. */
  lifetime: string;
  /** Unix milliseconds. */
  begunAt: number;
}

/** The service deletes an unfinished upload after this time. */
const LIFETIME_MS = 12 * 3_600_000;

/** The resumable uploads to one service, which this browser remembers until they end. */
export class UnfinishedUploads {
  /** Those of closed windows. */
  readonly left = signal<readonly UnfinishedUpload[]>([]);
  /** IDs of those of this window, by key. */
  readonly #own = new Map<string, string>();
  readonly #prefix: string;

  constructor(baseUrl: string) {
    this.#prefix = `outrigger unfinished ${baseUrl} `;
    try {
      for (const name of Object.keys(localStorage)) {
        if (!name.startsWith(this.#prefix)) continue;
        // Granted as soon as no other window has the upload.
        navigator.locks?.request(name, () => this.#list(name)).catch(() => undefined);
      }
    } catch {
      // The browser forbids storage.
    }
  }

  /** Takes over the upload of this file that a closed window began, or calls `discard` with its key: its lifetime is another, or over. */
  resume(file: File, lifetime: Lifetime, discard: (key: string) => void): UnfinishedUpload | undefined {
    const upload = this.left.value.find(({ fingerprint }) => fingerprint === fingerprintOf(file));
    if (upload === undefined) return undefined;
    const isOver = lifetime.kind === "for" && upload.begunAt + lifetime.ms <= Date.now();
    if (isOver || upload.lifetime !== JSON.stringify(lifetime)) return void discard(upload.key);
    this.#keep(upload);
    return upload;
  }

  /** Remembers a new upload in place of an earlier one of the entry. */
  begin(upload: Pick<UnfinishedUpload, "key" | "uploadId" | "name">, file: File, lifetime: Lifetime): void {
    const chosen = { fingerprint: fingerprintOf(file), lifetime: JSON.stringify(lifetime) };
    this.#keep({ ...upload, ...chosen, begunAt: Date.now() });
  }

  /** ID of the upload of an entry of this window. */
  idOf(key: string): string | undefined {
    return this.#own.get(key);
  }

  /** Forgets the upload of an entry. @returns its ID. */
  forget(key: string): string | undefined {
    const uploadId = this.#own.get(key) ?? this.left.value.find((each) => each.key === key)?.uploadId;
    this.#own.delete(key);
    this.left.value = this.left.value.filter((each) => each.key !== key);
    try {
      localStorage.removeItem(this.#prefix + key);
    } catch {
      // The browser forbids storage.
    }
    return uploadId;
  }

  #keep(upload: UnfinishedUpload): void {
    const { key, uploadId } = upload;
    const name = this.#prefix + key;
    this.forget(key);
    this.#own.set(key, uploadId);
    // Shows other windows that this one has the upload, until it is closed.
    navigator.locks?.request(name, () => new Promise(() => undefined)).catch(() => undefined);
    try {
      // No window would take over an upload that another one may still send.
      if (navigator.locks) localStorage.setItem(name, JSON.stringify(upload));
    } catch {
      // Forbidden or full: the upload ends with the window.
    }
  }

  #list(name: string): void {
    const upload = readUnfinished(localStorage.getItem(name) ?? "");
    if (upload === null) localStorage.removeItem(name);
    else this.left.value = [upload, ...this.left.value];
  }
}

function fingerprintOf({ name, size, lastModified }: File): string {
  return `${size} ${lastModified} ${name}`;
}

/** `null` for an expired upload, and for what another program wrote. */
function readUnfinished(text: string): UnfinishedUpload | null {
  try {
    const { key, uploadId, name, fingerprint, lifetime, begunAt } = JSON.parse(text);
    const isWhole = [key, uploadId, name, fingerprint, lifetime].every((each) => typeof each === "string");
    return isWhole && Date.now() < begunAt + LIFETIME_MS
      ? { key, uploadId, name, fingerprint, lifetime, begunAt }
      : null;
  } catch {
    return null;
  }
}
