import { pngChunk } from "./raster-files.ts";

/** Texts at the start and at the end of the claim in {@link manifest}. */
export const [CLAIM_START, CLAIM_END] = ["The claim", "and its end"] as const;

/** A manifest store of C2PA: a JUMBF box with its description and a claim. */
export const manifest = box("jumb", [
  box("jumd", [Buffer.from("6332706100110010800000aa00389b71", "hex"), Buffer.from("\x03c2pa\0")]),
  Buffer.from(`${CLAIM_START} ${"0".repeat(300)} ${CLAIM_END}`),
]);

/** A box of ISO base media and JUMBF files. */
export function box(type: string, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(type), ...parts]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([length, content]);
}

/** The PNG with the manifest. Source, also of the others: C2PA 2.2, appendix A. */
export function creditedPng(png: Buffer): Buffer {
  return Buffer.concat([png.subarray(0, 33), pngChunk("caBX", manifest), png.subarray(33)]);
}

export function creditedWebp(webp: Buffer): Buffer {
  const header = Buffer.from("C2PA\0\0\0\0");
  header.writeUInt32LE(manifest.length, 4);
  const riff = Buffer.concat([webp, header, manifest, Buffer.alloc(manifest.length % 2)]);
  riff.writeUInt32LE(riff.length - 8, 4);
  return riff;
}

export function creditedAvif(avif: Buffer): Buffer {
  const purpose = Buffer.from(`\0\0\0\0manifest\0${"\0".repeat(8)}`);
  return Buffer.concat([
    avif,
    box("uuid", [Buffer.from("d8fec3d61b0e483c92975828877ec481", "hex"), purpose, manifest]),
  ]);
}
