import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { openUpload } from "./support/open-upload.ts";
import { pngPhoto } from "./support/pictures.ts";
import { run } from "./support/programs.ts";
import { addressOf, startSite, upload } from "./support/service.ts";

/** A multipart body with one file, in two parts. */
function multipart(bytes: Buffer): { type: string; first: Buffer; rest: Buffer } {
  const head =
    '--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n--x--\r\n")]);
  return { type: "multipart/form-data; boundary=x", first: body.subarray(0, 400), rest: body.subarray(400) };
}

/** More than the buffers of a connection hold. */
function heavyPng(): Promise<Buffer> {
  const flat = sharp({ create: { width: 2400, height: 1700, channels: 3, background: "#369" } });
  return flat.png({ compressionLevel: 0 }).toBuffer();
}

describe("closing a service", () => {
  test("close finishes the running upload and download and refuses new requests", async () => {
    const site = await startSite({ host: "Koa 3" });
    try {
      const large = await heavyPng();
      const image = await upload(site, large, "image/png");
      const { type, first, rest } = multipart(await pngPhoto(40, 30));
      const { outgoing, answered } = openUpload(site, {
        "Content-Type": type,
        "Transfer-Encoding": "chunked",
      });
      outgoing.write(first);
      const asked = request(addressOf(site, image.id, "png"), { agent: false }).end();
      const [download] = (await once(asked, "response")) as [IncomingMessage];
      expect(download.statusCode).toBe(200);

      const closed = site.images.close();
      let isClosed = false;
      void closed.then(() => {
        isClosed = true;
      });
      await expect.poll(async () => (await fetch(addressOf(site, image.id, "png"))).status).toBe(503);
      const refused = await fetch(addressOf(site, image.id, "json"));
      expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual(
        [503, "2", "close"],
      );
      const own = await fetch(`${site.origin}/host`);
      expect(await own.text()).toBe("the host's own");
      expect(isClosed).toBe(false);
      expect((await buffer(download)).equals(large)).toBe(true);
      expect(isClosed).toBe(false);
      outgoing.end(rest);
      const created = await answered;
      expect(created.statusCode).toBe(201);
      created.resume();
      await closed;
      expect(site.errors).toEqual([]);
    } finally {
      await site.close();
    }
  });
});

/** Serves one request, then closes the service or not, as its argument says. */
const PROCESS = `
  import { createServer } from "node:http";
  import { createFsBlobStore, createImages } from "@outrigger/core";
  import { nodeListener } from "@outrigger/node";
  const [directory, ending] = process.argv.slice(1);
  const renderer = {
    build: "none",
    measure: () => null,
    canRender: () => false,
    admit: async () => ({ width: 1, height: 1, pages: 1, cleaned: null }),
    render: () => Promise.reject(new Error("Nothing is rendered here")),
    close: async () => {},
  };
  const images = createImages({ storage: createFsBlobStore({ directory }), renderer, sweepEveryMs: 1000 });
  const server = createServer(nodeListener(images)).listen(0, "127.0.0.1", async () => {
    const form = new FormData();
    const png = [137, 80, 78, 71, 13, 10, 26, 10];
    form.set("imagedata", new Blob([new Uint8Array(png)], { type: "image/png" }), "a.png");
    const url = "http://127.0.0.1:" + server.address().port + "/api/images.json";
    const { status } = await fetch(url, { method: "POST", body: form, headers: { "User-Agent": "Test/1.0" } });
    console.log(status);
    server.close();
    server.closeAllConnections();
    if (ending === "close") await images.close();
  });
`;

test.each(["close", "leave"])(
  "a service keeps its process alive neither open nor closed: %s",
  async (ending) => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-life-"));
    try {
      const args = ["--input-type=module", "--eval", PROCESS, directory, ending];
      const { stdout, stderr, status } = await run(process.execPath, args);
      expect([stdout.toString(), stderr, status]).toEqual(["201\n", "", 0]);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
);
