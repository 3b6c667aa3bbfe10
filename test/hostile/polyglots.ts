import { crc32, deflateRawSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import sharp from "sharp";
import { emptyPdf, jpegPhoto, pngPhoto } from "../support/pictures.ts";
import { pngChunk } from "../support/raster-files.ts";

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
const PHP = "<?php system($_GET['c']); ?>";

export async function polyglots(): Promise<Polyglot[]> {
  const jpeg = await jpegPhoto(60, 40);
  const png = await pngPhoto(60, 40);
  const gif = await sharp(png).gif().toBuffer();
  return [
    { title: "a GIF that is JavaScript", type: "image/gif", bytes: scriptGif(), payload: "alert(" },
    {
      title: "a GIF with a page in a comment",
      type: "image/gif",
      bytes: gifWithComment(gif, PAGE),
      payload: SCRIPT,
    },
    { title: "a JPEG with a page after it", type: "image/jpeg", bytes: concat(jpeg, PAGE), payload: SCRIPT },
    {
      title: "a JPEG with PHP in a comment",
      type: "image/jpeg",
      bytes: jpegWithComment(jpeg, PHP),
      payload: PHP,
    },
    {
      title: "a JPEG with a page in a comment",
      type: "image/jpeg",
      bytes: jpegWithComment(jpeg, PAGE),
      payload: SCRIPT,
    },
    {
      title: "a PNG with a ZIP after it",
      type: "image/png",
      bytes: concat(png, zip("evil.html", PAGE)),
      payload: "evil.html",
    },
    {
      title: "a PNG with a page in a text chunk",
      type: "image/png",
      bytes: pngWithText(png, PAGE),
      payload: SCRIPT,
    },
    {
      title: "a PNG with a PDF after it",
      type: "image/png",
      bytes: concat(png, emptyPdf()),
      payload: "/MediaBox[0 0 595 842]",
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
      title: "an SVG that is a page",
      type: "image/svg+xml",
      bytes: svg(`<html xmlns="http://www.w3.org/1999/xhtml"><body>${SCRIPT}</body></html>`),
      payload: "alert(",
    },
    {
      title: "an SVG with a page in a foreignObject",
      type: "image/svg+xml",
      bytes: svg(
        '<foreignObject width="9" height="6"><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject>',
      ),
      payload: "alert(",
    },
    {
      title: "an SVG with scripts and handlers",
      type: "image/svg+xml",
      bytes: svg(
        `${SCRIPT}<path onload="alert(1)" d="M0 0h9v6z"/><a href="javascript:alert(1)"><text>x</text></a>`,
      ),
      payload: "alert(",
    },
    {
      title: "an SVG under a prefix, its script under another",
      type: "image/svg+xml",
      bytes: Buffer.from(
        '<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml" width="9" height="6">' +
          "<h:script>alert(1)</h:script></s:svg>",
      ),
      payload: "alert(",
    },
    {
      title: "an SVG with a stylesheet instruction",
      type: "image/svg+xml",
      bytes: Buffer.from(`<?xml-stylesheet href="javascript:alert(1)"?>${svg("").toString()}`),
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

function gifWithComment(gif: Buffer, text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const comment = concat(Buffer.from([0x21, 0xfe, bytes.length]), bytes, Buffer.from([0]));
  // Before the trailer, which is the last byte.
  return concat(gif.subarray(0, -1), comment, gif.subarray(-1));
}

function jpegWithComment(jpeg: Buffer, text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const marker = Buffer.from([0xff, 0xfe, 0, 0]);
  marker.writeUInt16BE(bytes.length + 2, 2);
  return concat(jpeg.subarray(0, 2), marker, bytes, jpeg.subarray(2));
}

function pngWithText(png: Buffer, text: string): Buffer {
  // After IHDR, which has 25 bytes.
  return concat(
    png.subarray(0, 33),
    pngChunk("tEXt", Buffer.from(`Comment\0${text}`, "latin1")),
    png.subarray(33),
  );
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
