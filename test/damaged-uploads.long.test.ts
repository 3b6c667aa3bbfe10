import { afterAll, beforeAll, expect, test } from "vitest";
import { type NamedFile, soundFiles } from "./hostile/damaged-files.ts";
import { postImage, type Site, startSite } from "./support/service.ts";

const DAMAGED = "The file is damaged or incomplete";
const UNKNOWN = "imagedata is not a PNG, JPEG, GIF, SVG, PSD or PDF file";
/** Names and words of sharp, libvips, libjpeg, libpng, libspng, cgif, librsvg, saxes, zlib and PDFium. */
const FOREIGN =
  /vips|libjpeg|libpng|spng|sharp|pdfium|zlib|buffer|corrupt|premature|bogus|invalid|unexpected|unclosed|disallowed|encoded data/i;

let site: Site;
const logged: Record<string, unknown>[] = [];
beforeAll(async () => {
  const info = (fields: Record<string, unknown>, message: string) => {
    if (message === "image unreadable") logged.push(fields);
  };
  site = await startSite({ logger: { info, warn() {}, error() {} } });
});
afterAll(() => site.close());

const sound = new Map((await soundFiles()).map((file) => [file.title, file]));
const refusalOf = async (bytes: Buffer, type: string): Promise<string | null> => {
  const reply = await postImage(site, bytes, type);
  if (reply.status === 201) return null;
  expect(reply.status).toBe(415);
  return (await reply.json()).detail;
};

/** Bytes of the signature, and what follows {@link DAMAGED} for a file that is cut there, filled up with zeros, and cut in half. */
test.each([
  ["PNG", 8, "", "", null],
  ["JPEG", 4, "", "", null],
  ["GIF", 6, ": it has no whole header", ": it holds no picture", ": it ends within a frame"],
  [
    "SVG",
    5,
    ": its XML is broken in line 1",
    ": its XML is broken in line 1",
    ": its XML is broken in line 1",
  ],
  ["PSD", 6, "", ": it declares 0 by 0 pixels", ""],
  ["PDF", 8, "", "", ""],
] as const)(
  "a %s that is cut or empty after its signature is refused as damaged or incomplete; a PNG or JPEG cut in half is stored",
  async (title, signature, cut, empty, half) => {
    const { type, bytes } = sound.get(title) as NamedFile;
    const start = bytes.subarray(0, signature);
    expect(await refusalOf(start, type)).toBe(`${DAMAGED}${cut}.`);
    expect(await refusalOf(Buffer.concat([start, Buffer.alloc(300)]), type)).toBe(`${DAMAGED}${empty}.`);
    const refusal = half === null ? null : `${DAMAGED}${half}.`;
    expect(await refusalOf(bytes.subarray(0, bytes.length >> 1), type)).toBe(refusal);
  },
);

test.each([...sound.keys()])(
  "a refusal of a %s with a flipped bit has no words of its decoder",
  async (title) => {
    const { type, bytes } = sound.get(title) as NamedFile;
    const refusals: string[] = [];
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at);
      const refusal = await refusalOf(flipped, type);
      if (refusal !== null) refusals.push(refusal);
    }
    for (const refusal of refusals) {
      expect(refusal).not.toMatch(FOREIGN);
      expect(refusal).toMatch(
        new RegExp(`^(?:${DAMAGED}|This cannot be read as ${type.replace("+", ".")}: |${UNKNOWN})`),
      );
    }
    expect(refusals.filter((refusal) => refusal.startsWith(DAMAGED)).length).toBeGreaterThan(0);
  },
);

test("the log has the words of the decoder, and the form without a script the same refusal", async () => {
  logged.length = 0;
  const jpeg = (sound.get("JPEG") as NamedFile).bytes.subarray(0, 4);
  await refusalOf(jpeg, "image/jpeg");
  expect(logged).toEqual([
    { id: expect.any(String), type: "image/jpeg", cause: expect.stringContaining("premature end of JPEG") },
  ]);
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(jpeg)], { type: "image/jpeg" }), "a.jpg");
  const page = await (await fetch(`${site.base}/`, { method: "POST", body: form })).text();
  expect(page).toContain(`${DAMAGED}.`);
  expect(page).not.toMatch(/premature|vips/i);
});
