import { signal } from "@preact/signals";

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

  /** Takes over the upload of this file that a closed window began. */
  resume(file: File): UnfinishedUpload | undefined {
    const upload = this.left.value.find(({ fingerprint }) => fingerprint === fingerprintOf(file));
    if (upload !== undefined) this.#keep(upload);
    return upload;
  }

  /** Remembers a new upload in place of an earlier one of the entry. */
  begin(key: string, uploadId: string, name: string, file: File): void {
    this.#keep({ key, uploadId, name, fingerprint: fingerprintOf(file), begunAt: Date.now() });
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
      localStorage.setItem(name, JSON.stringify(upload));
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
    const { key, uploadId, name, fingerprint, begunAt } = JSON.parse(text);
    const isWhole = [key, uploadId, name, fingerprint].every((each) => typeof each === "string");
    return isWhole && Date.now() < begunAt + LIFETIME_MS
      ? { key, uploadId, name, fingerprint, begunAt }
      : null;
  } catch {
    return null;
  }
}
