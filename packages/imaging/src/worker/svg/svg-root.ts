import { unreadable } from "../unreadable.ts";
import { cleanSvg } from "./clean-svg.ts";
import { escapeAttribute, unescapeAttribute } from "./svg-writer.ts";

/** A clean document, split after its first tag. */
export interface SvgRoot {
  /** Attributes of the root element in order, namespaces included. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Whether the root is an empty-element tag and the whole document. */
  readonly isEmpty: boolean;
  /** The bytes after the first tag. */
  readonly content: Buffer;
}

/** The start of a clean document, with only the references that cleaning writes. */
const START_TAG =
  /^<svg((?: [A-Za-z][\w:.-]*="[^"<>&]*(?:&(?:amp|lt|gt|quot|#9|#10|#13);[^"<>&]*)*")*)(\/?)>$/;
const ATTRIBUTE = / ([^=]+)="([^"]*)"/g;

/** Reads the root of a document. If the document does not begin like a clean one, it is cleaned first. */
export function readSvgRoot(bytes: Buffer): SvgRoot {
  const root = splitAtRoot(bytes) ?? splitAtRoot(cleanSvg(bytes));
  if (root === undefined) throw unreadable("image/svg+xml", "its root element is not svg");
  return root;
}

/** A root with some attributes replaced or added. */
export function withRootAttributes(root: SvgRoot, changes: Readonly<Record<string, string>>): SvgRoot {
  return { ...root, attributes: new Map([...root.attributes, ...Object.entries(changes)]) };
}

/** The whole document. */
export function writeSvgRoot({ attributes, isEmpty, content }: SvgRoot): Buffer {
  let tag = "<svg";
  for (const [name, value] of attributes) tag += ` ${name}="${escapeAttribute(value)}"`;
  return Buffer.concat([Buffer.from(`${tag}${isEmpty ? "/" : ""}>`), content]);
}

function splitAtRoot(bytes: Buffer): SvgRoot | undefined {
  const tagBytes = bytes.indexOf(">") + 1;
  const [, attributes, slash] = START_TAG.exec(bytes.toString("utf8", 0, tagBytes)) ?? [];
  if (attributes === undefined) return undefined;
  return {
    attributes: new Map(
      [...attributes.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [
        name,
        unescapeAttribute(value),
      ]),
    ),
    isEmpty: slash === "/",
    content: bytes.subarray(tagBytes),
  };
}
