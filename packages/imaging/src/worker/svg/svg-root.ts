import { unreadable } from "../unreadable.ts";
import { cleanSvg } from "./clean-svg.ts";
import { escapeAttribute, unescapeAttribute } from "./svg-writer.ts";

/** A clean document, taken apart at the end of its first tag. */
export interface SvgRoot {
  /** Of the root element, in their order; the namespaces are among them. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Whether the root has no content, so that its tag is the whole document. */
  readonly isEmpty: boolean;
  /** The bytes after the first tag. */
  readonly content: Buffer;
}

/** The only way in which a clean document begins: with no references but those that cleaning writes. */
const START_TAG =
  /^<svg((?: [A-Za-z][\w:.-]*="[^"<>&]*(?:&(?:amp|lt|gt|quot|#9|#10|#13);[^"<>&]*)*")*)(\/?)>$/;
const ATTRIBUTE = / ([^=]+)="([^"]*)"/g;

/** Reads the root of a document, which is cleaned before if it does not begin as a clean one. */
export function readSvgRoot(bytes: Buffer): SvgRoot {
  const root = splitAtRoot(bytes) ?? splitAtRoot(cleanSvg(bytes));
  if (root === undefined) throw unreadable("image/svg+xml", "its root element is no svg");
  return root;
}

/** The document with some of the root's attributes replaced, added or, by `undefined`, removed. */
export function withRootAttributes(
  { attributes, isEmpty, content }: SvgRoot,
  changes: Readonly<Record<string, string | undefined>>,
): Buffer {
  let tag = "<svg";
  for (const [name, value] of new Map([...attributes, ...Object.entries(changes)])) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
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
