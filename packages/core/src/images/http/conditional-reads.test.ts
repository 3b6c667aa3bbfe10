import { expect, test } from "vitest";
import { createCall } from "../../../test/calls.ts";
import { created } from "../../../test/image-site.ts";
import { createLifeSite } from "../../../test/life-site.ts";

test("an If-Modified-Since later than the clock is ignored at every address, cold and hot, and one equal to it gives 304", async () => {
  const site = createLifeSite();
  const { id } = created(await site.create());
  const sinceIn = (ms: number) => ({ "if-modified-since": new Date(site.clock.now + ms).toUTCString() });
  const readNow = (path: string, options: object) =>
    site.images.answerNow?.(createCall("GET", path, options));
  const png = `/api/images/${id}.png`;
  for (const [path, search] of [
    [png, ""],
    [png, "resize=8x8"],
    [`/api/images/${id}.json`, ""],
    [`/${id}`, ""],
  ] as const) {
    for (const method of ["GET", "HEAD", "GET"]) {
      const statusOf = async (headers: object) =>
        (await site.send(method, path, { search, headers: { ...headers } })).status;
      expect([path, search, method, await statusOf(sinceIn(1000))]).toEqual([path, search, method, 200]);
      expect(await statusOf(sinceIn(0))).toBe(304);
      const until = new Date(site.clock.now + 1000).toUTCString();
      expect(await statusOf({ "if-unmodified-since": until })).toBe(200);
    }
  }
  expect(readNow(png, { headers: sinceIn(1000) })?.status).toBe(200);
  expect(readNow(png, { headers: sinceIn(0) })?.status).toBe(304);
  const part = { ...sinceIn(1000), range: "bytes=0-3" };
  expect((await site.send("GET", png, { headers: part })).status).toBe(206);
});
