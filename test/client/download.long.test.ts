import sharp from "sharp";
import { expect, test } from "vitest";
import { frontForAll, photo, refusalOf } from "./image-client.ts";
import { fileOf } from "./sources.ts";

const { client } = frontForAll();

test("download returns the requested format, size and quality, with the file name", async () => {
  const { id } = await client().upload(fileOf(photo, "Bucht & »Boot«.jpg"));
  const original = await client().download(id, "jpg");
  expect(original).toMatchObject({ type: "image/jpeg", name: "Bucht & »Boot«.jpg", size: photo.length });
  expect(Buffer.from(await original.bytes()).equals(photo)).toBe(true);
  const small = await client().download(id, "png", { resize: "90x" });
  expect(small.type).toBe("image/png");
  expect((await sharp(await small.bytes()).metadata()).width).toBe(90);
  const sizes: number[] = [];
  for (const convert of ["low", "medium", "high"] as const) {
    sizes.push((await (await client().download(id, "jpg", { convert, resize: "500x" })).bytes()).length);
  }
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(sizes[0]).toBeLessThan(sizes[2] ?? 0);
  for (const [format, type] of [
    ["gif", "image/gif"],
    ["svg", "image/svg+xml"],
    ["psd", "image/x-photoshop"],
    ["pdf", "application/pdf"],
    ["webp", "image/webp"],
    ["avif", "image/avif"],
  ] as const) {
    const { type: got, bytes } = await client().download(id, format, { resize: "40x40" });
    expect([got.split(";")[0], (await bytes()).length > 0]).toEqual([type, true]);
  }
  expect(await refusalOf(client().download(id, "png", { resize: "wide" }))).toMatchObject({ status: 400 });
  const linked = await fetch(client().addressOf(id, "png", { resize: "x70" }));
  expect((await sharp(await linked.arrayBuffer()).metadata()).height).toBe(70);
});
