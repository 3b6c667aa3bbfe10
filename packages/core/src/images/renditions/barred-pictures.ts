import type { BlobStore } from "../../contracts/blob-store.ts";
import { readAll } from "../../stores/read-all.ts";
import { jsonIn, keyOf } from "../record/image-record.ts";
import type { BoundedImage } from "./bounds/rendition-bounds.ts";

const BAR = "too-costly";
/** A picture that was too costly in two sizes is not rendered for this long. */
const BARRED_MS = 3_600_000;

/** What is kept of a picture that was too costly. */
interface Excess {
  /** The rendition that was too costly first. */
  rendition: string;
  /** Why the last was. */
  reason: string;
  /** When the last was, in Unix milliseconds, if that was another rendition than the first. */
  barredAtMs: number | null;
}

/**
 * Pictures whose renditions run out of CPU time or memory: one that does in two renditions is barred from further renders
 * for an hour, after which each further excess bars it again. Kept with the renditions, so that all processes know, and by
 * the renderer's build, so that a new one tries again.
 */
export interface BarredPictures {
  /** Why no rendition is rendered now; `null`: nothing is in the way. */
  reasonOf(id: string): Promise<string | null>;
  /** Notes that a rendition was too costly. */
  note(image: BoundedImage, rendition: string, reason: string): Promise<void>;
}

export interface BarredPicturesOptions {
  renditions: BlobStore;
  build: string;
  /** Stores something of an image, unless the image is gone. */
  put(image: BoundedImage, key: string, bytes: Buffer): Promise<void>;
  /** Unix milliseconds. */
  now(): number;
}

export function createBarredPictures({ renditions, build, put, now }: BarredPicturesOptions): BarredPictures {
  const keyFor = (id: string) => keyOf.failure(id, `${BAR}.${build}`);

  async function load(id: string): Promise<Excess | null> {
    const blob = await renditions.get(keyFor(id));
    return blob === null ? null : excessIn(jsonIn(await readAll(blob.body)));
  }

  return {
    async reasonOf(id) {
      const excess = await load(id);
      const barredAtMs = excess?.barredAtMs ?? null;
      if (excess === null || barredAtMs === null || now() - barredAtMs >= BARRED_MS) return null;
      return `${excess.reason} It was so in two sizes: no further one is rendered for an hour.`;
    },
    async note(image, rendition, reason) {
      const before = await load(image.id);
      // Of two processes that write at once one is lost: the next excess bars the picture.
      const isSecond = before !== null && (before.barredAtMs !== null || before.rendition !== rendition);
      const excess: Excess = {
        rendition: before?.rendition ?? rendition,
        reason,
        barredAtMs: isSecond ? now() : null,
      };
      await put(image, keyFor(image.id), Buffer.from(JSON.stringify(excess)));
    },
  };
}

/** Whether a key is that of what {@link BarredPictures} keeps. */
export function isBar(key: string): boolean {
  return key.includes(`/failures/${BAR}.`);
}

/** `null`: it is damaged, and the next excess writes it anew. */
function excessIn(value: unknown): Excess | null {
  if (typeof value !== "object" || value === null) return null;
  const { rendition, reason, barredAtMs } = value as Partial<Record<keyof Excess, unknown>>;
  if (typeof rendition !== "string" || typeof reason !== "string") return null;
  return { rendition, reason, barredAtMs: typeof barredAtMs === "number" ? barredAtMs : null };
}
