import { isServiceError } from "@outrigger/core";
import { Edits } from "../edits.ts";
import { Marker, readJpegSegments } from "../jpeg-segments.ts";
import { findJpegMetadata, stripJpeg } from "../strip-jpeg.ts";
import { blankEntry } from "./blank-out.ts";
import { findInlineImages } from "./inline-images.ts";
import { findJpxMetadata, type Replacement } from "./jpx-metadata.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import type { PdfHost, PdfInventory, PdfObject } from "./pdf-inventory.ts";
import { entryOf, nameOf, type PdfValue } from "./pdf-value.ts";
import { decoders } from "./stream-decoders.ts";
import {
  decodeStream,
  deflateToLength,
  filterEntry,
  filtersOf,
  parametersEntry,
  type Resolve,
} from "./stream-filters.ts";
import { groupByNumber } from "./unshared-objects.ts";

const TYPE = "application/pdf";
/** From the second byte of a marker to the content of its segment. */
const MARKER_TO_PAYLOAD = 3;
/** More than any stream decodes to that is a picture in a compressed form, or draws a page. */
const MAX_STREAM_BYTES = 64 * 1024 ** 2;
/** Bytes that all streams of a file may decode to together: Flate packs up to a thousand into one. */
const MAX_DECODED_BYTES = 512 * 1024 ** 2;

/** Inline images of all pages together. Ten thousand take 0.3 s. */
const MAX_INLINE_IMAGES = 50_000;
/** Filters that are the formats of pictures with metadata. */
const pictureFilters = new Set(["DCTDecode", "JPXDecode"]);
const parameterKeys = new Set(["DecodeParms", "DP"]);
/** Keys of fonts, profiles, functions, object streams and meshes. */
const otherKeys = ["Length1", "N", "FunctionType", "First", "ShadingType"];

/** A stream or an inline image. Positions are in `host`. */
interface Stream {
  host: PdfHost;
  dictionary: PdfValue;
  start: number;
  end: number;
  filters: readonly string[];
  resolve: Resolve;
}

/**
 * Removes the metadata of JPEG and JPEG 2000 pictures in a PDF: of XObjects, and of inline images in content streams. PDF
 * readers use none of it, not even the orientation. Where the encoding around a picture, such as ASCII85, leaves no room
 * for a change, the picture is stored without it.
 */
export class ImageMetadata {
  /** Streams whose filters are described by other objects. */
  readonly #later: PdfObject[] = [];
  #decodable = MAX_DECODED_BYTES;
  #inlineImages = MAX_INLINE_IMAGES;

  /** Blanks the metadata in a stream. Returns `false` if that is impossible without moving later bytes. */
  visit(object: PdfObject, value: PdfValue): boolean {
    if (object.data === null) return true;
    if (![filterEntry(value), parametersEntry(value)].some(hasReference)) {
      return this.#blankStream(object, value, (same) => same);
    }
    this.#later.push(object);
    return true;
  }

  /** Does the same for the streams that refer to other objects, when all are known. */
  finish({ objects }: PdfInventory): boolean {
    if (this.#later.length === 0) return true;
    const byNumber = groupByNumber(objects);
    const resolve: Resolve = (value) => {
      if (value?.kind !== "reference") return value;
      const target = byNumber.get(value.number)?.at(-1);
      return target && (parsePdfValue(target.host.content, target.start) ?? undefined);
    };
    return this.#later.every((object) => {
      const value = parsePdfValue(object.host.content, object.start);
      return value === null || this.#blankStream(object, value, resolve);
    });
  }

  #blankStream({ host, data }: PdfObject, dictionary: PdfValue, resolve: Resolve): boolean {
    const filters = filtersOf(dictionary, resolve);
    if (data === null || filters === null) return true;
    const stream = { host, dictionary, ...data, filters, resolve };
    if (pictureFilters.has(filters.at(-1) ?? "")) return this.#blankPicture(stream);
    return !canDraw(dictionary) || this.#blankContent(stream);
  }

  #blankPicture(stream: Stream): boolean {
    const { host, start, end, filters } = stream;
    const isJpeg = filters.at(-1) === "DCTDecode";
    const find = isJpeg ? findJpegReplacements : findJpxMetadata;
    if (filters.length === 1) {
      for (const found of find(host.content.subarray(start, end))) replace(host, start, found);
      return true;
    }
    const picture = this.#decode(stream, filters.slice(0, -1));
    if (picture === null) return false;
    const blanked = Buffer.from(picture);
    for (const { start, bytes } of find(picture)) blanked.set(bytes, start);
    if (blanked.equals(picture)) return true;
    const isDeflated = filters.length === 2 && filters[0] === "FlateDecode";
    const packed = isDeflated ? deflateToLength(blanked, end - start) : null;
    if (packed !== null) {
      host.edits.replace(start, end, packed);
      return true;
    }
    const short = isJpeg ? stripped(picture) : blanked;
    if (short.length > end - start || !keepLastFilter(stream)) return false;
    // Readers stop at the end of the picture.
    host.edits.replace(start, end, Buffer.concat([short], end - start));
    return true;
  }

  /** Blanks the pictures inside the content of a page, a form, a pattern or a glyph. */
  #blankContent(stream: Stream): boolean {
    const { host, start, end, filters } = stream;
    if (!filters.every((filter) => filter in decoders)) return true;
    const content = this.#decode(stream, filters);
    // Damaged content is not drawn, or only its beginning.
    if (content === null) return this.#decodable > 0;
    const inner = { content, edits: new Edits(content, TYPE) };
    const images = findInlineImages(content, this.#inlineImages);
    if (images === null) return false;
    this.#inlineImages -= images.length;
    for (const image of images) {
      const { dictionary } = image;
      const resolve: Resolve = (same) => same;
      const inline = { host: inner, ...image, filters: filtersOf(dictionary) ?? [], resolve };
      if (pictureFilters.has(inline.filters.at(-1) ?? "") && !this.#blankPicture(inline)) return false;
    }
    const edited = inner.edits.apply();
    if (edited === null) return true;
    const bytes = Buffer.concat(edited);
    const packed = filters.length === 0 ? bytes : deflateToLength(bytes, end - start);
    if (packed === null || (filters.length > 0 && !onlyFlate(stream))) return false;
    host.edits.replace(start, end, packed);
    return true;
  }

  #decode({ host, dictionary, start, end, resolve }: Stream, filters: readonly string[]): Buffer | null {
    const maxBytes = Math.min(MAX_STREAM_BYTES, this.#decodable);
    const stored = host.content.subarray(start, end);
    const decoded = decodeStream(dictionary, stored, { filters, maxBytes, resolve });
    this.#decodable -= decoded?.length ?? stored.length;
    return decoded;
  }
}

function hasReference(value: PdfValue | undefined): boolean {
  return value?.kind === "reference" || (value?.kind === "array" && value.items.some(hasReference));
}

/** Whether a stream may be content that draws: it has neither another type nor keys of another kind of stream. */
function canDraw(dictionary: PdfValue): boolean {
  const isDrawn = [undefined, "Form"].includes(nameOf(dictionary, "Subtype"));
  const type = nameOf(dictionary, "Type");
  const isOther = otherKeys.some((key) => entryOf(dictionary, key) !== undefined);
  return isDrawn && !isOther && (type === undefined || type === "XObject" || type === "Pattern");
}

function* findJpegReplacements(jpeg: Buffer): Generator<Replacement, void> {
  for (const { start, end } of findJpegMetadata(jpeg)) yield { start, bytes: Buffer.alloc(end - start) };
  for (const { marker, payload, end } of readJpegSegments(jpeg)) {
    // Readers list an empty comment, but no empty application segment.
    if (marker === Marker.COM && payload.length > 0) {
      yield { start: end - payload.length - MARKER_TO_PAYLOAD, bytes: Buffer.of(Marker.APP15) };
    }
  }
}

/** A JPEG without its metadata; without a header as it is. */
function stripped(jpeg: Buffer): Buffer {
  try {
    return Buffer.concat(stripJpeg(jpeg) ?? [jpeg]);
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return jpeg;
    throw error;
  }
}

function replace({ edits }: PdfHost, offset: number, { start, bytes }: Replacement): void {
  edits.replace(offset + start, offset + start + bytes.length, bytes);
}

/** Leaves only the last filter of a stream in its dictionary. Returns `false` if its name does not fit there. */
function keepLastFilter({ host, dictionary, filters }: Stream): boolean {
  const [filter, parameters] = [filterEntry(dictionary), parametersEntry(dictionary)];
  if (filter?.kind === "array") for (const item of filter.items.slice(0, -1)) blankValue(host, item);
  else if (filters.at(-1) !== "DCTDecode" || !overwrite(host, filter, "/DCT")) return false;
  if (parameters?.kind === "array") for (const item of parameters.items.slice(0, -1)) blankValue(host, item);
  else removeParameters(host, dictionary);
  return true;
}

/** Leaves Flate without parameters as the only filter of a stream. */
function onlyFlate({ host, dictionary, filters }: Stream): boolean {
  removeParameters(host, dictionary);
  return filters.join() === "FlateDecode" || overwrite(host, filterEntry(dictionary), "/Fl");
}

function removeParameters(host: PdfHost, dictionary: PdfValue): void {
  const entries = dictionary.kind === "dictionary" ? dictionary.entries : [];
  for (const entry of entries) if (parameterKeys.has(entry.key)) blankEntry(host, entry);
}

function blankValue(host: PdfHost, value: PdfValue): void {
  overwrite(host, value, "");
}

/** Replaces a value by a shorter text. Returns `false` for a longer one. */
function overwrite({ edits }: PdfHost, value: PdfValue | undefined, text: string): boolean {
  if (value === undefined || value.end - value.start < text.length) return false;
  edits.replace(value.start, value.end, Buffer.from(text.padEnd(value.end - value.start), "latin1"));
  return true;
}
