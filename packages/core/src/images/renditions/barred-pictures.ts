import type { BlobStore } from "../../contracts/blob-store.ts";
import { readAll } from "../../stores/read-all.ts";
import { jsonIn, keyOf } from "../record/image-record.ts";
import type { BoundedImage } from "./bounds/rendition-bounds.ts";

const BAR = "too-costly";
/** A picture that was too costly in two renditions is not rendered for this time. */
const BARRED_MS = 3_600_000;

/** The stored note about a picture that was too costly. */
interface Excess {
  /** Name of the first rendition that was too costly. */
  rendition: string;
  /** Reason of the latest failure. */
  reason: string;
  /** Time of the latest failure in Unix milliseconds; `null`: only the first rendition has failed. */
  barredAtMs: number | null;
}

/**
 * Pictures whose renditions run out of CPU time or memory. After two such renditions the picture is barred for an hour: no
 * further rendition of it starts. After that hour, each further failure bars it again. The notes are stored with the renditions,
 * so all processes see them. They are kept per build of the renderer, so a new build tries again.
 */
export interface BarredPictures {
  /** The reason that the picture is barred; `null`: it is not. */
  reasonOf(id: string): Promise<string | null>;
  /** Notes that a rendition was too costly. */
  note(image: BoundedImage, rendition: string, reason: string): Promise<void>;
}

export interface BarredPicturesOptions {
  renditions: BlobStore;
  build: string;
  /** Stores a blob of an image, unless the image is gone. */
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
      return `${excess.reason} This happened in two sizes, so no other size is rendered for an hour.`;
    },
    async note(image, rendition, reason) {
      const before = await load(image.id);
      // Of two concurrent writes one is lost. The next failure then bars the picture.
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

/** Whether a key belongs to a note of {@link BarredPictures}. */
export function isBar(key: string): boolean {
  return key.includes(`/failures/${BAR}.`);
}

/** `null`: the note is damaged; the next failure overwrites it. */
function excessIn(value: unknown): Excess | null {
  if (typeof value !== "object" || value === null) return null;
  const { rendition, reason, barredAtMs } = value as Partial<Record<keyof Excess, unknown>>;
  if (typeof rendition !== "string" || typeof reason !== "string") return null;
  return { rendition, reason, barredAtMs: typeof barredAtMs === "number" ? barredAtMs : null };
}
