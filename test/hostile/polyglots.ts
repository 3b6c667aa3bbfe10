import { crc32, deflateRawSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import { emptyPdf, jpegPhoto, pngPhoto } from "../support/pictures.ts";

/** A file that is both one of our types and something else. */
export interface Polyglot {
  title: string;
  type: OriginalType;
  bytes: Buffer;
  /** The part of the other type that must not occur in a rendition. */
  payload: string;
}

const SCRIPT = "<script>alert(document.domain)</script>";
const PAGE = `<!DOCTYPE html><html><body>${SCRIPT}</body></html>`;

export async function polyglots(): Promise<Polyglot[]> {
  const jpeg = await jpegPhoto(60, 40);
  const png = await pngPhoto(60, 40);
  return [
    { title: "a GIF that is JavaScript", type: "image/gif", bytes: scriptGif(), payload: "alert(" },
    { title: "a JPEG with a page after it", type: "image/jpeg", bytes: concat(jpeg, PAGE), payload: SCRIPT },
    {
      title: "a PNG with a ZIP after it",
      type: "image/png",
      bytes: concat(png, zip("evil.html", PAGE)),
      payload: "evil.html",
    },
    {
      title: "a PDF after a page",
      type: "application/pdf",
      bytes: concat(PAGE, emptyPdf()),
      payload: SCRIPT,
    },
    {
      title: "a PDF that runs JavaScript",
      type: "application/pdf",
      bytes: scriptPdf(),
      payload: "app.alert",
    },
    {
      title: "an SVG with scripts and handlers",
      type: "image/svg+xml",
      bytes: svg(
        `${SCRIPT}<path onload="alert(1)" d="M0 0h9v6z"/><a href="javascript:alert(1)"><text>x</text></a>`,
      ),
      payload: "alert(",
    },
  ];
}

function svg(content: string): Buffer {
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="6">${content}</svg>`);
}

function concat(...parts: (Buffer | string)[]): Buffer {
  return Buffer.concat(parts.map((each) => (typeof each === "string" ? Buffer.from(each) : each)));
}

/** Its width is that of the characters `/*`, which open a comment up to the end of the file. */
function scriptGif(): Buffer {
  const width = Buffer.from("/*", "latin1").readUInt16LE();
  const header = Buffer.from("GIF89a\0\0\x01\0\x80\0\0\0\0\0\xff\xff\xff", "latin1");
  header.writeUInt16LE(width, 6);
  const frame = Buffer.from("\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b", "latin1");
  return concat(header, frame, "*/=1;alert(document.domain)//");
}

/** An archive of one file. */
export function zip(name: string, content: string): Buffer {
  const bytes = Buffer.from(content);
  const packed = deflateRawSync(bytes);
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(8, 4);
  facts.writeUInt32LE(crc32(bytes), 10);
  facts.writeUInt32LE(packed.length, 14);
  facts.writeUInt32LE(bytes.length, 18);
  facts.writeUInt16LE(name.length, 22);
  const local = concat("PK\x03\x04", facts, name, packed);
  const central = concat("PK\x01\x02\x14\0", facts, Buffer.alloc(14), name);
  const end = Buffer.from("PK\x05\x06\0\0\0\0\x01\0\x01\0\0\0\0\0\0\0\0\0\0\0", "latin1");
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return concat(local, central, end);
}

function scriptPdf(): Buffer {
  return Buffer.from(
    emptyPdf()
      .toString("latin1")
      .replace("<</Type/Catalog", "<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>"),
    "latin1",
  );
}
