import type { KeptMeta, KeptUpload } from "../../saved/kept-uploads.ts";
import { serverNow } from "../../saved/server-clock.ts";
import { type AddedFile, randomKey } from "../sending/sender.ts";
import type { NextOptions } from "../store/next-options.ts";
import type { Unfinished } from "./unfinished.ts";

export interface ContinuationOptions {
  unfinished: Unfinished;
  next: Pick<NextOptions, "expiresAt">;
  send(files: readonly AddedFile[]): void;
}

/** Sends files, new ones and those of unfinished uploads. */
export interface Continuation {
  /** Sends chosen files. A file with the name and size of an offered one continues that upload. */
  add(files: readonly File[]): void;
  /** Sends offered uploads whose bytes are kept. */
  resume(uploads: readonly KeptUpload[]): Promise<void>;
  /** What a closed window sent of an upload that goes on here; `null` for any other upload. */
  metaOf(key: string): KeptMeta | null;
}

interface MatchedFile {
  file: File;
  upload: KeptUpload;
}

export function createContinuation({ unfinished, next, send }: ContinuationOptions): Continuation {
  const metas = new Map<string, KeptMeta>();

  /** @returns the files of uploads that another window took first. */
  async function proceed(files: readonly MatchedFile[]): Promise<File[]> {
    const taken = new Set((await unfinished.take(files.map(({ upload }) => upload))).map(({ key }) => key));
    const own = files.filter(({ upload }) => taken.has(upload.key));
    if (own.length > 0) {
      send(
        own.map(({ file, upload }) => {
          const meta = metaToContinue(upload, Date.now(), next.expiresAt);
          if (meta !== null) metas.set(upload.key, meta);
          return { file, key: upload.key, meta };
        }),
      );
    }
    return files.filter((each) => !own.includes(each)).map(({ file }) => file);
  }

  return {
    add(files) {
      const offers = [...unfinished.offers.value];
      const fresh: File[] = [];
      const again: MatchedFile[] = [];
      for (const file of files) {
        const at = offers.findIndex(({ chosen }) => chosen.name === file.name && chosen.size === file.size);
        const [upload] = at === -1 ? [] : offers.splice(at, 1);
        if (upload === undefined) fresh.push(file);
        else again.push({ file, upload });
      }
      const sendNew = (left: readonly File[]) => {
        if (left.length > 0) send(left.map((file) => ({ file })));
      };
      sendNew(fresh);
      if (again.length > 0) void proceed(again).then(sendNew);
    },
    async resume(uploads) {
      await proceed(
        uploads.flatMap((upload) => (upload.file === null ? [] : [{ upload, file: upload.file }])),
      );
    },
    metaOf: (key) => metas.get(key) ?? null,
  };
}

/** The service keeps keys for a day. */
const KEY_MS = 23 * 3_600_000;

/**
 * The meta to continue an upload with: unchanged while the service recognises its key. `null` for a shared file, which
 * was never sent.
 *
 * @param newExpiry The field for an upload whose chosen expiry has passed.
 */
export function metaToContinue(
  { meta, atMs }: Pick<KeptUpload, "meta" | "atMs">,
  nowMs: number,
  newExpiry: () => string,
): KeptMeta | null {
  if (meta === null) return null;
  const isExpired = meta.expiresAt !== "" && Date.parse(meta.expiresAt) <= serverNow();
  if (!isExpired && nowMs - atMs < KEY_MS) return meta;
  return {
    name: meta.name,
    expiresAt: isExpired ? newExpiry() : meta.expiresAt,
    idempotencyKey: randomKey(),
  };
}
