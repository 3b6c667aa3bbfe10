import { isServiceError } from "@outrigger/core/values";
import { Edits } from "../edits.ts";
import { Marker, readJpegSegments } from "../jpeg-segments.ts";
import { findJpegMetadata, stripJpeg } from "../strip-jpeg.ts";
import { blankEntry } from "./blank-out.ts";
import { findInlineImages } from "./inline-images.ts";
import { findJpxMetadata, type Replacement } from "./jpx-metadata.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { groupByNumber, type PdfHost, type PdfInventory, type PdfObject } from "./pdf-inventory.ts";
import { entryOf, type PdfValue, pdfNameAt, visitValues } from "./pdf-value.ts";
import { decoders } from "./stream-decoders.ts";
import {
  type DecodeBudget,
  decodeStream,
  deflateToLength,
  filterEntry,
  filtersOf,
  MAX_FILTERS,
  parametersEntry,
  parametersOf,
  type Resolve,
} from "./stream-filters.ts";

const TYPE = "application/pdf";
/** From the second byte of a marker to the content of its segment. */
const MARKER_TO_PAYLOAD = 3;
/** More than any stream decodes to that is a picture in a compressed form, or draws a page. */
const MAX_STREAM_BYTES = 64 * 1024 ** 2;
/** Bytes that all streams of a file may decode to together: Flate packs up to a thousand into one. */
const MAX_DECODED_BYTES = 512 * 1024 ** 2;
/** Bytes of all objects that describe filters. */
const MAX_RESOLVED_BYTES = 4 * 1024 ** 2;
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
  readonly #budget: DecodeBudget = { bytes: MAX_DECODED_BYTES, maxBytes: MAX_STREAM_BYTES };
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
    const resolved = new Map<number, PdfValue | undefined>();
    let resolvable = MAX_RESOLVED_BYTES;
    const resolve: Resolve = (value) => {
      if (value?.kind !== "reference") return value;
      const target = byNumber.get(value.number)?.at(-1);
      if (target === undefined || target.data !== null) return undefined;
      if (!resolved.has(value.number)) {
        resolvable -= target.end - target.start;
        const parsed = resolvable < 0 ? null : parsePdfValue(target.host.content, target.start);
        resolved.set(value.number, parsed ?? undefined);
      }
      return resolved.get(value.number);
    };
    let isBlank = true;
    for (const object of this.#later) {
      const value = parsePdfValue(object.host.content, object.start);
      if (value !== null && !this.#blankStream(object, value, resolve)) isBlank = false;
    }
    return isBlank && resolvable >= 0;
  }

  #blankStream({ host, data }: PdfObject, dictionary: PdfValue, resolve: Resolve): boolean {
    const filters = filtersOf(dictionary, resolve);
    if (data === null || filters === null) return true;
    if (filters.length > MAX_FILTERS) return false;
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
    if (picture.length === 0) {
      // Damaged, or in a filter that stands before no picture: readers show nothing of it.
      host.edits.replace(start, end, Buffer.alloc(end - start));
      return true;
    }
    const blanked = Buffer.from(picture);
    for (const { start, bytes } of find(picture)) blanked.set(bytes, start);
    if (blanked.equals(picture)) return true;
    const isDeflated = filters.length === 2 && filters[0] === "FlateDecode";
    const packed = isDeflated ? deflateToLength(blanked, end - start) : null;
    if (packed !== null) {
      host.edits.replace(start, end, packed);
      dropPredictor(stream);
      return true;
    }
    const short = isJpeg ? stripped(blanked) : blanked;
    if (short.length > end - start || !keepLastFilter(stream)) return false;
    // Readers stop at the end of the picture.
    host.edits.replace(start, end, Buffer.concat([short], end - start));
    return true;
  }

  /** Blanks the pictures inside the content of a page, a form, a pattern or a glyph. */
  #blankContent(stream: Stream): boolean {
    const { host, start, end, filters } = stream;
    if (!filters.every((filter) => decoders.has(filter))) return true;
    const content = this.#decode(stream, filters);
    // One of more bytes than a page has does not draw.
    if (content === null) return this.#budget.bytes > 0;
    const inner = { content, edits: new Edits(content, TYPE) };
    const images = findInlineImages(content, this.#inlineImages);
    if (images === null) return false;
    this.#inlineImages -= images.length;
    let isBlank = true;
    for (const image of images) {
      const { dictionary } = image;
      const resolve: Resolve = (same) => same;
      const inline = { host: inner, ...image, filters: filtersOf(dictionary) ?? [], resolve };
      if (pictureFilters.has(inline.filters.at(-1) ?? "") && !this.#blankPicture(inline)) isBlank = false;
    }
    const edited = inner.edits.apply();
    if (edited === null) return isBlank;
    const bytes = Buffer.concat(edited);
    const packed = filters.length === 0 ? bytes : deflateToLength(bytes, end - start);
    if (packed === null || (filters.length > 0 && !onlyFlate(stream))) return false;
    host.edits.replace(start, end, packed);
    return isBlank;
  }

  #decode({ host, dictionary, start, end, resolve }: Stream, filters: readonly string[]): Buffer | null {
    const stored = host.content.subarray(start, end);
    return decodeStream(dictionary, stored, { filters, budget: this.#budget, resolve });
  }
}

function hasReference(value: PdfValue | undefined): boolean {
  let isFound = false;
  if (value !== undefined) visitValues(value, ({ kind }) => (isFound ||= kind === "reference"));
  return isFound;
}

/** Whether a stream may be content that draws: it has neither another type nor keys of another kind of stream. */
function canDraw(dictionary: PdfValue): boolean {
  const isDrawn = [undefined, "Form"].includes(pdfNameAt(dictionary, "Subtype"));
  const type = pdfNameAt(dictionary, "Type");
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
  if (filter?.kind === "array") for (const item of filter.items.slice(0, -1)) overwrite(host, item, "");
  else if (filters.at(-1) !== "DCTDecode" || !overwrite(host, filter, "/DCT")) return false;
  if (parameters?.kind === "array") {
    for (const item of parameters.items.slice(0, filters.length - 1)) overwrite(host, item, "");
  } else removeParameters(host, dictionary);
  return true;
}

/** Leaves Flate without parameters as the only filter of a stream. */
function onlyFlate(stream: Stream): boolean {
  const { host, dictionary, filters } = stream;
  if (filters.join() !== "FlateDecode" && !overwrite(host, filterEntry(dictionary), "/Fl")) return false;
  removeParameters(host, dictionary);
  return true;
}

/** Removes the parameters of Flate before another filter, whose own stay. */
function dropPredictor({ host, dictionary, resolve }: Stream): void {
  if (parametersOf(dictionary, 0, resolve) === undefined) return;
  const parameters = parametersEntry(dictionary);
  if (parameters?.kind === "array") overwrite(host, parameters.items[0], "null");
  else removeParameters(host, dictionary);
}

function removeParameters(host: PdfHost, dictionary: PdfValue): void {
  const entries = dictionary.kind === "dictionary" ? dictionary.entries : [];
  for (const entry of entries) if (parameterKeys.has(entry.key)) blankEntry(host, entry);
}

/** Replaces a value by a shorter text. Returns `false` for a longer one. */
function overwrite({ edits }: PdfHost, value: PdfValue | undefined, text: string): boolean {
  if (value === undefined || value.end - value.start < text.length) return false;
  edits.replace(value.start, value.end, Buffer.from(text.padEnd(value.end - value.start), "latin1"));
  return true;
}
