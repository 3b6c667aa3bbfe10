import { deflateSync } from "node:zlib";
import { isServiceError } from "@outrigger/core/values";
import { unreadable } from "../../picture.ts";
import { Edits } from "../edits.ts";
import { Marker, readJpegSegments } from "../jpeg-segments.ts";
import { stripJpeg } from "../strip-jpeg.ts";
import { findJpxMetadata } from "./jpx-metadata.ts";
import { type PDFContext, type PDFDict, PDFName, type PDFRawStream } from "./library.ts";
import { cleanContent, type InlineImage } from "./page-content.ts";
import { entryOf } from "./pdf-values.ts";
import type { PdfObjects } from "./saved-pdf.ts";
import {
  type DecodeBudget,
  decodeStream,
  type Filter,
  filtersOf,
  inlineFiltersOf,
} from "./stream-filters.ts";

const TYPE = "application/pdf";
/** More than any stream decodes to that draws a page, or is a picture in a compressed form. */
const MAX_STREAM_BYTES = 64 * 1024 ** 2;
/** Bytes that all streams of a file may decode to together: Flate packs up to a thousand into one. */
const MAX_DECODED_BYTES = 512 * 1024 ** 2;
/** More bytes than the encodings of nothing have. */
const MAX_EMPTY_BYTES = 32;
const JPEG_HEADER = Buffer.of(0xff, 0xd8);
/** Filters that are the formats of pictures with metadata. */
const pictureFilters: ReadonlySet<string> = new Set(["DCTDecode", "JPXDecode"]);

/** Removes the metadata of pictures in streams and page content, and comments. */
export class StreamCleaner {
  readonly #objects: PdfObjects;
  readonly #keepUnremovable: boolean;
  readonly #budget: DecodeBudget = { bytes: MAX_DECODED_BYTES, maxBytes: MAX_STREAM_BYTES };

  /** `keepUnremovable`: what cannot be cleaned stays. Otherwise it is refused. */
  constructor(objects: PdfObjects, keepUnremovable: boolean) {
    this.#objects = objects;
    this.#keepUnremovable = keepUnremovable;
  }

  isPicture(stream: PDFRawStream): boolean {
    const filters = filtersOf(stream, this.#objects.resolve) ?? [];
    return filters.some(({ name }) => pictureFilters.has(name));
  }

  /** Cleans an image that is a stream. PDF readers use none of its metadata, not even the orientation. */
  cleanImage(stream: PDFRawStream): void {
    const filters = filtersOf(stream, this.#objects.resolve);
    const cleaned = filters === null ? undefined : this.#cleanPicture(bytesOf(stream), filters);
    if (cleaned === undefined) this.#refuse();
    else if (cleaned !== null) store(stream, cleaned, filters?.at(-1));
  }

  /** Cleans the content of a form, a pattern, a glyph or an appearance. */
  cleanDrawing(stream: PDFRawStream): void {
    const content = this.#decode(stream);
    const cleaned = content === undefined ? undefined : this.#cleanContent(content);
    if (cleaned === undefined) this.#refuse();
    else if (cleaned !== null)
      store(stream, deflateSync(cleaned), { name: "FlateDecode", parameters: undefined });
  }

  /** The content of a page, which may be split between any two words, in one stream; `null` when nothing changes. */
  cleanPage(streams: readonly PDFRawStream[]): PDFRawStream | null {
    const parts: Buffer[] = [];
    for (const stream of streams) {
      const content = this.#decode(stream);
      if (content === undefined) this.#refuse();
      else parts.push(content, Buffer.from(" "));
    }
    const cleaned = parts.length < 2 * streams.length ? null : this.#cleanContent(Buffer.concat(parts));
    if (cleaned === undefined) this.#refuse();
    if (cleaned === undefined || cleaned === null) return null;
    const { context } = this.#objects;
    return context.stream(deflateSync(cleaned), { Filter: "FlateDecode" });
  }

  /** The decoded content of a stream; `undefined` when it cannot be decoded. */
  #decode(stream: PDFRawStream): Buffer | undefined {
    const { resolve } = this.#objects;
    const filters = filtersOf(stream, resolve);
    if (filters === null) return undefined;
    const stored = bytesOf(stream);
    const content = decodeStream(stored, filters, { budget: this.#budget, resolve });
    const isLost = content === null || (content.length === 0 && stored.length > MAX_EMPTY_BYTES);
    return isLost ? undefined : content;
  }

  #cleanContent(content: Buffer): Buffer | null | undefined {
    let isRefused = false;
    const clean = ({ dictionary, data }: InlineImage): InlineImage | null => {
      const filters = inlineFiltersOf(dictionary);
      const cleaned = filters === null ? undefined : this.#cleanPicture(data, filters);
      if (cleaned === undefined) isRefused = true;
      if (cleaned === undefined || cleaned === null) return null;
      const inner = dictionary.clone();
      for (const key of ["Filter", "F", "DecodeParms", "DP"]) inner.delete(PDFName.of(key));
      const last = filters?.at(-1);
      inner.set(PDFName.of("F"), PDFName.of(last?.name ?? ""));
      const parameters = usedParameters(last, dictionary.context);
      if (parameters !== undefined) inner.set(PDFName.of("DP"), parameters);
      return { dictionary: inner, data: cleaned };
    };
    const cleaned = cleanContent(content, { context: this.#objects.context, budget: this.#budget, clean });
    return isRefused ? undefined : cleaned;
  }

  /** A picture without metadata, behind its last filter only; `null` without any, `undefined` when it cannot be read. */
  #cleanPicture(stored: Buffer, filters: readonly Filter[]): Buffer | null | undefined {
    const last = filters.at(-1);
    const outer = filters.slice(0, -1);
    if (outer.some(({ name }) => pictureFilters.has(name))) return undefined;
    if (last === undefined || !pictureFilters.has(last.name)) return null;
    const picture = decodeStream(stored, outer, { budget: this.#budget, resolve: this.#objects.resolve });
    if (picture === null) return undefined;
    const cleaned = last.name === "DCTDecode" ? bareJpeg(picture) : bareJpx(picture);
    return outer.length === 0 && cleaned?.equals(stored) === true ? null : cleaned;
  }

  #refuse(): void {
    if (!this.#keepUnremovable) throw unreadable(TYPE, "its metadata cannot be removed");
  }
}

function bytesOf({ contents }: PDFRawStream): Buffer {
  return Buffer.from(contents.buffer, contents.byteOffset, contents.length);
}

/** Replaces the data of a stream, with one filter around them. */
function store(stream: PDFRawStream, contents: Buffer, filter: Filter | undefined): void {
  stream.updateContents(contents);
  const { dict } = stream;
  dict.delete(PDFName.of("DecodeParms"));
  if (filter === undefined) return;
  dict.set(PDFName.of("Filter"), PDFName.of(filter.name));
  const parameters = usedParameters(filter, dict.context);
  if (parameters !== undefined) dict.set(PDFName.of("DecodeParms"), parameters);
}

/** The parameters of a picture's filter that its pixels depend on. */
function usedParameters(filter: Filter | undefined, context: PDFContext): PDFDict | undefined {
  const transform = entryOf(filter?.parameters, "ColorTransform");
  return transform && context.obj({ ColorTransform: transform });
}

/** A JPEG of what its pixels depend on. No bytes, which no reader shows, for one without a header; `undefined` for too much. */
function bareJpeg(bytes: Buffer): Buffer | undefined {
  const start = bytes.indexOf(JPEG_HEADER);
  if (start === -1) return Buffer.alloc(0);
  const jpeg = bytes.subarray(start);
  try {
    const stripped = Buffer.concat(stripJpeg(jpeg) ?? [jpeg]);
    const edits = new Edits(stripped, TYPE);
    // The orientation is left.
    for (const { marker, start, end } of readJpegSegments(stripped)) {
      if (marker === Marker.APP1) edits.remove(start, end);
    }
    return Buffer.concat(edits.apply() ?? [stripped]);
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return undefined;
    throw error;
  }
}

function bareJpx(bytes: Buffer): Buffer {
  const bare = Buffer.from(bytes);
  for (const { start, bytes: replacement } of findJpxMetadata(bytes)) bare.set(replacement, start);
  return bare;
}
