import { Readable } from "node:stream";
import { abortSignal } from "../../contract-rules.ts";
import type { ByteRange } from "../../contracts/blob-store.ts";
import type { ImageFormat, RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { FORMATS, formatOfOriginal, formatOfSuffix } from "../record/formats.ts";
import { isServable } from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { stateAt, unknownImage } from "../record/image-state.ts";
import { chooseRendition, parseAsked } from "../renditions/read-request.ts";
import { HOST_CLIENT } from "../renditions/render-gate.ts";
import { keyFor } from "../renditions/rendition-bytes.ts";
import { type AddressedRendition, RENDITION_RULES } from "../renditions/write-address.ts";
import { type FoundBytes, findReadyImage, readRendition, requireAlive, requireReady } from "./find-image.ts";
import type { LibraryContext } from "./library-context.ts";

export const OPEN_RULES = {
  ...RENDITION_RULES,
  /** Byte range, both ends included. An end beyond the last byte is cut. @default all bytes */
  range: rules.value<ByteRange>("{ start, end } of whole numbers from 0, with start not after end", isRange),
  /** Aborts waiting for a render, and reading from a remote store. */
  signal: abortSignal,
};

/** Selects the bytes of an image to open. Without `format`, that is the original, which takes no parameter of a rendition. */
export interface OpenOptions
  extends AddressedRendition,
    Omit<rules.Options<typeof OPEN_RULES>, keyof AddressedRendition> {}

/** The opened bytes of an image. */
export interface OpenedImage {
  /** Read it to its end, or destroy it. */
  body: Readable;
  /** Bytes of the whole picture, even if only a range is opened. */
  size: number;
  /** Media type. */
  type: string;
  /** Strong entity tag with its quotes, as over HTTP. */
  etag: string;
  /** When the image was created. */
  lastModified: Date;
}

type CheckedOpen = rules.Checked<typeof OPEN_RULES>;

/** Opens the bytes of an image, see {@link ImageLibrary.open}. */
export async function openImage(
  context: LibraryContext,
  id: string,
  { range, ...asked }: CheckedOpen,
  signal: AbortSignal,
): Promise<OpenedImage> {
  const current = await findReadyImage(context, id, signal);
  const { record } = current;
  const { format, spec } = chooseBytes(context, record, asked);
  const target = { record, spec, key: keyFor(id, spec) };
  const reader = { client: HOST_CLIENT, signal };
  return readRendition(context, target, reader, (found) => opened(record, format, range, found));
}

/** Opens the bytes of a held or withheld image too, see {@link ImageLibrary.review}. */
export async function reviewImage(
  context: LibraryContext,
  id: string,
  { range, signal: _signal, ...asked }: CheckedOpen,
  signal: AbortSignal,
): Promise<OpenedImage> {
  const { records, renditions, settings } = context;
  const current = await records.load(id, signal);
  if (current === null) throw unknownImage();
  const { record } = current;
  // For an image that is over, this rejects.
  if (stateAt(record, settings.now()).isOver) await requireAlive(context, current);
  if (record.processing !== null) requireReady(context, current);
  const { format, spec } = chooseBytes(context, record, asked);
  const target = { record, spec, key: keyFor(id, spec) };
  const bytes = await renditions.getUncached(target, { client: HOST_CLIENT, signal });
  if (bytes === null)
    throw new ServiceError("damaged", `The original of image ${id} is missing from its store`);
  return opened(record, format, range, bytes);
}

async function opened(
  { createdAt }: ImageRecord,
  format: ImageFormat,
  range: ByteRange | undefined,
  { size, etag, open }: Pick<FoundBytes, "size" | "etag" | "open">,
): Promise<OpenedImage> {
  if (range !== undefined && range.start >= size) {
    throw new ServiceError("bad_request", `range must begin within the ${size} bytes of the picture`);
  }
  const body = await open(range && { start: range.start, end: Math.min(range.end, size - 1) });
  return {
    body: Buffer.isBuffer(body) ? streamOf(body) : body,
    size,
    etag,
    type: FORMATS[format].type,
    lastModified: new Date(createdAt),
  };
}

function chooseBytes(
  { renderer, reads }: LibraryContext,
  record: ImageRecord,
  asked: Omit<CheckedOpen, "range" | "signal">,
): { format: ImageFormat; spec: RenditionSpec | null } {
  if (asked.format === undefined) {
    if (Object.values(asked).some((each) => each !== undefined)) {
      throw new ServiceError("bad_request", "format is required: the original has no parameters");
    }
    return { format: formatOfOriginal(record.type), spec: null };
  }
  const format = formatOfSuffix(asked.format);
  if (format === undefined) {
    throw new ServiceError("unsupported_media", `Nothing is served as .${asked.format}`);
  }
  if (!isServable(renderer, record, format)) {
    throw new ServiceError("not_implemented", `No renderer for ${record.type} as ${format} is installed`);
  }
  const { parameters } = parseAsked(format, (name) => Reflect.get(asked, name), reads.presets);
  return { format, spec: chooseRendition(record, format, parameters, (...of) => renderer.measure(...of)) };
}

/** Copies the bytes: the originals stay in memory for other readers. */
function streamOf(bytes: Buffer): Readable {
  return Readable.from([Buffer.from(bytes)], { objectMode: false });
}

function isRange(given: unknown): given is ByteRange {
  const { start, end } = Object(given) as Partial<ByteRange>; // Each property is checked below.
  return (
    Number.isSafeInteger(start) &&
    Number.isSafeInteger(end) &&
    0 <= Number(start) &&
    Number(start) <= Number(end)
  );
}
