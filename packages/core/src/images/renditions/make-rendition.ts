import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Renderer, RenderSource, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../image-record.ts";
import { openSource } from "../open-source.ts";
import type { RenderScheduler, Turn } from "./render-scheduler.ts";
import { BytesReplaced, requireSize } from "./servable-bytes.ts";
import { STAMP_BYTES, type Stamp, storedStamp } from "./stored-rendition.ts";

export interface RenditionMakerOptions {
  originals: BlobStore;
  renditions: BlobStore;
  renderer: Renderer;
  /** The same renderer, as its clients share it. */
  scheduler: RenderScheduler;
}

/** A rendition that was made. */
export interface MadeRendition {
  bytes: Buffer;
  stamp: Stamp;
  /** To be stored under {@link intermediateKey} with the same stamp. */
  intermediate?: Buffer;
}

/** Renders from the intermediate where there is one, else from the original. Rejects with {@link OriginalMissing}. */
export type MakeRendition = (record: ImageRecord, spec: RenditionSpec, turn: Turn) => Promise<MadeRendition>;

/** The record is there and its bytes are not: just removed, or lost. */
export class OriginalMissing extends Error {}

/** Beside the renditions, one per page. */
export function intermediateKey(id: string, { page = 1 }: RenditionSpec): string {
  return keyOf.rendition(id, `intermediate-p${page}`);
}

/** Whether a key is that of an intermediate. */
export function isIntermediate(key: string): boolean {
  return key.includes("/renditions/intermediate-");
}

export function createRenditionMaker(options: RenditionMakerOptions): MakeRendition {
  const { originals, renditions, renderer, scheduler } = options;

  async function openOriginal({ id, size }: ImageRecord): Promise<RenderSource> {
    const key = keyOf.original(id);
    const opened = await openSource(originals, key);
    if (opened === null) throw new OriginalMissing();
    requireSize(key, opened.size, size);
    return opened.source;
  }

  async function openIntermediate(key: string): Promise<RenderSource> {
    const blob = await renditions.get(key);
    if (blob === null) throw new BytesReplaced(`The bytes of ${key} are gone`);
    return { bytes: (await readAll(blob.body)).subarray(STAMP_BYTES) };
  }

  /** `null`: there is no intermediate that looks as it should, or it cannot be read. */
  async function fromIntermediate(
    record: ImageRecord,
    spec: RenditionSpec,
    turn: Turn,
  ): Promise<MadeRendition | null> {
    const key = intermediateKey(record.id, spec);
    const look = renderer.look(record.type, spec.format);
    const stamp = await storedStamp(renditions, key, turn.signal);
    if (stamp === null || stamp.look < look) return null;
    const isOurs = stamp.build === renderer.build;
    const build = isOurs ? renderer.build : `${renderer.build}-${stamp.build}`;
    const opening = () => openIntermediate(key);
    try {
      const { bytes } = await scheduler.render(opening, record, spec, { ...turn, fromIntermediate: true });
      return { bytes, stamp: { look, build } };
    } catch (error) {
      if (error instanceof BytesReplaced || isServiceError(error, "unsupported_media")) return null;
      throw error;
    }
  }

  return async (record, spec, turn) => {
    const isIndirect = renderer.usesIntermediate?.(record, spec) ?? false;
    const made = isIndirect ? await fromIntermediate(record, spec, turn) : null;
    if (made !== null) return made;
    const rendition = await scheduler.render(() => openOriginal(record), record, spec, turn);
    const stamp = { look: renderer.look(record.type, spec.format), build: renderer.build };
    return { ...rendition, stamp };
  };
}
