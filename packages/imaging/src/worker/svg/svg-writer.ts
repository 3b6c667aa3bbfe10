import type { Size } from "@outrigger/core/images";
import { type Attribute, XLINK_NAMESPACE } from "./clean-attribute.ts";
import { MAX_SVG_BYTES, tooLarge } from "./decode-svg-text.ts";

export const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Writes an SVG without prefixes. The first element opened is the root and gets the namespaces. */
export interface SvgWriter {
  open(name: string, attributes: readonly Attribute[]): void;
  text(text: string): void;
  close(name: string): void;
  /** The complete document in UTF-8. Throws `unsupported_media` when it is too large. */
  finish(): Buffer;
}

const ROOT_NAMESPACE = ` xmlns="${SVG_NAMESPACE}"`;
const LINK_NAMESPACE = ` xmlns:xlink="${XLINK_NAMESPACE}"`;

export function createSvgWriter(): SvgWriter {
  const pieces: string[] = [];
  let rootNamespaces = -1;
  let hasLinks = false;
  let characters = 0;
  /** Whether the last start tag may still become an empty-element tag. */
  let isTagOpen = false;

  const write = (piece: string): void => {
    characters += piece.length;
    if (characters > MAX_SVG_BYTES) throw tooLarge();
    pieces.push(piece);
  };
  const endTag = (): void => {
    if (isTagOpen) write(">");
    isTagOpen = false;
  };

  return {
    open(name, attributes) {
      endTag();
      write(`<${name}`);
      if (rootNamespaces < 0) rootNamespaces = pieces.push(ROOT_NAMESPACE) - 1;
      for (const { name, value } of attributes) {
        if (name.startsWith("xlink:")) hasLinks = true;
        write(` ${name}="${escapeAttribute(value)}"`);
      }
      isTagOpen = true;
    },
    text(text) {
      if (text === "") return;
      endTag();
      write(escapeText(text));
    },
    close(name) {
      write(isTagOpen ? "/>" : `</${name}>`);
      isTagOpen = false;
    },
    finish() {
      if (hasLinks) pieces[rootNamespaces] = ROOT_NAMESPACE + LINK_NAMESPACE;
      const document = Buffer.from(pieces.join(""));
      if (document.length > MAX_SVG_BYTES) throw tooLarge();
      return document;
    },
  };
}

const references = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["\t", "&#9;"],
  ["\n", "&#10;"],
  ["\r", "&#13;"],
]);

/**
 * Escapes a value for double quotes. Tabs and newlines are escaped too, because a parser would turn them into spaces.
 */
export function escapeAttribute(value: string): string {
  return /[&<>"\t\n\r]/.test(value) ? value.replace(/[&<>"\t\n\r]/g, reference) : value;
}

/** Reverses {@link escapeAttribute}. */
export function unescapeAttribute(value: string): string {
  return value.replace(/&(?:amp|lt|gt|quot|#9|#10|#13);/g, (written) => characterOf.get(written) ?? written);
}

function escapeText(text: string): string {
  return /[&<>\r]/.test(text) ? text.replace(/[&<>\r]/g, reference) : text;
}

function reference(character: string): string {
  return references.get(character) ?? character;
}

const characterOf = new Map([...references].map(([character, written]) => [written, character]));

/** Maximum bytes of a raster in an SVG: base64 turns three bytes into four, and the SVG must stay within its limit. */
export const MAX_WRAPPED_BYTES = Math.floor((MAX_SVG_BYTES - 1000) / 4) * 3;

/**
 * An SVG of `size` that embeds a raster unchanged. It uses `xlink:href`, not `href`, because every reader supports it;
 * both would double the bytes.
 * @param drawn Size of the raster before it is transformed. @default `size`
 */
export function wrapRaster(
  bytes: Buffer,
  mediaType: "image/png" | "image/jpeg" | "image/gif",
  { width, height }: Size,
  drawn: Size & { transform?: string } = { width, height },
): Buffer {
  const sides = `width="${width}" height="${height}"`;
  const turn = drawn.transform === undefined ? "" : ` transform="${drawn.transform}"`;
  const drawnSides = `width="${drawn.width}" height="${drawn.height}"${turn}`;
  const namespaces = `xmlns="${SVG_NAMESPACE}" xmlns:xlink="${XLINK_NAMESPACE}"`;
  const start = `<svg ${namespaces} ${sides} viewBox="0 0 ${width} ${height}"><image ${drawnSides} preserveAspectRatio="none" xlink:href="data:${mediaType};base64,`;
  return Buffer.concat([
    Buffer.from(start),
    Buffer.from(bytes.toString("base64"), "latin1"),
    Buffer.from('"/></svg>'),
  ]);
}
