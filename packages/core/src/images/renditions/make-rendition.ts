import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { Renderer, RenderSource, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import {
  BytesReplaced,
  openSource,
  requireSize,
  STAMP_BYTES,
  type Stamp,
  stampIn,
  storedStamp,
} from "./rendition-bytes.ts";
import type { RenditionCache } from "./rendition-cache.ts";
import { intermediateKey } from "./rendition-names.ts";
import type { RenderScheduler, Turn } from "./scheduling/render-scheduler.ts";

export interface RenditionMakerOptions {
  originals: BlobStore;
  renditions: BlobStore;
  cache: Pick<RenditionCache, "notes">;
  renderer: Renderer;
  /** Schedules the same renderer fairly between clients. */
  scheduler: RenderScheduler;
}

/** A rendition just rendered. */
export interface MadeRendition {
  bytes: Buffer;
  stamp: Stamp;
  /** To be stored under {@link intermediateKey} with the same stamp. */
  intermediate?: Buffer;
}

/** Renders from the intermediate if one is stored, else from the original. Rejects with {@link OriginalMissing}. */
export type MakeRendition = (record: ImageRecord, spec: RenditionSpec, turn: Turn) => Promise<MadeRendition>;

/** The record exists but its bytes do not: they were just removed, or lost. */
export class OriginalMissing extends Error {}

/** Errors after which the original is rendered instead: the intermediate's bytes or its format cannot be read. */
const FALLS_BACK = ["unsupported_media", "store_unavailable"] as const;

export function createRenditionMaker(options: RenditionMakerOptions): MakeRendition {
  const { originals, renditions, cache, renderer, scheduler } = options;

  async function openOriginal({ id, size }: ImageRecord): Promise<RenderSource> {
    const key = keyOf.original(id);
    const opened = await openSource(originals, key);
    if (opened === null) throw new OriginalMissing();
    requireSize(key, opened.size, size);
    return opened.source;
  }

  /** Opens an intermediate by path if the store can, since it is the largest stored blob. Rejects if it was replaced or removed. */
  async function openIntermediate(key: string, { build }: Stamp): Promise<RenderSource> {
    if (isLocalStore(renditions)) {
      const path = await renditions.localPath(key);
      if (path !== null) return { path, start: STAMP_BYTES };
    }
    const blob = await renditions.get(key);
    const whole = blob === null ? Buffer.alloc(0) : await readAll(blob.body);
    if (stampIn(whole)?.build !== build) throw new BytesReplaced(`The bytes of ${key} were replaced`);
    return { bytes: whole.subarray(STAMP_BYTES) };
  }

  /** Whether the intermediate is unchanged: a file may have been replaced by another build, or evicted, before it was read. */
  async function isStill(key: string, { build }: Stamp): Promise<boolean> {
    return !isLocalStore(renditions) || (await storedStamp(renditions, key))?.build === build;
  }

  /** `null`: no intermediate with the required look is stored, or it cannot be read. */
  async function fromIntermediate(
    record: ImageRecord,
    spec: RenditionSpec,
    turn: Turn,
  ): Promise<MadeRendition | null> {
    const key = intermediateKey(record.id, spec);
    if ((await cache.notes.latest(record)).stored?.has(key) === false) return null;
    const look = renderer.look(record.type, spec.format);
    const stamp = await storedStamp(renditions, key, turn.signal);
    if (stamp === null || stamp.look < look) return null;
    const isOurs = stamp.build === renderer.build;
    const build = isOurs ? renderer.build : `${renderer.build}-${stamp.build}`;
    const opening = () => openIntermediate(key, stamp);
    try {
      const { bytes } = await scheduler.render(opening, record, spec, { ...turn, fromIntermediate: true });
      return (await isStill(key, stamp)) ? { bytes, stamp: { look, build } } : null;
    } catch (error) {
      if (error instanceof BytesReplaced || FALLS_BACK.some((code) => isServiceError(error, code)))
        return null;
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
