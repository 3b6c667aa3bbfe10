import { createMemoryBlobStore } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { expect, test } from "vitest";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

const HOUR_MS = 3_600_000;

test.runIf(process.platform === "linux")(
  "after two renders exceed the memory limit, no process renders the picture for an hour",
  async () => {
    const bytes = await sharp({ create: { width: 5000, height: 5000, channels: 4, background: "#369c" } })
      .png({ progressive: true, compressionLevel: 1 })
      .toBuffer();
    const storage = createMemoryBlobStore();
    const clock = { now: Date.now() };
    const sites: Site[] = [];
    const start = async (renderer: Renderer) => {
      const renders: string[] = [];
      const counting: Renderer = {
        ...renderer,
        render(source, type, spec, work) {
          renders.push(`${spec.width}x${spec.height}`);
          return renderer.render(source, type, spec, work);
        },
      };
      const shared = { ...storage, close: async () => undefined };
      const secret = Buffer.alloc(32, 1);
      const site = await startSite({
        ...{ renderer: counting, storage: shared, secret, memoryBytes: 0 },
        now: () => clock.now,
      });
      sites.push(site);
      return { site, renders };
    };
    const read = async ({ site }: { site: Site }, id: string, size: number) => {
      const reply = await fetch(`${addressOf(site, id, "jpg")}?resize=${size}x`);
      return { status: reply.status, text: await reply.text() };
    };
    const frugal = () => createRenderer({ maxMemoryBytes: 128 * 1024 ** 2, workers: 1, timeoutMs: 60_000 });
    try {
      const usual = await start(createRenderer({ workers: 1, timeoutMs: 60_000 }));
      const { id } = await upload(usual.site, bytes, "image/png");
      expect(await read(usual, id, 1700)).toMatchObject({ status: 200 });
      await expect.poll(async () => (await storage.list(`${id}/renditions/`)).keys).not.toEqual([]);

      const here = await start(frugal());
      const tooMuch = "This image needs more than 128 MiB of memory to render.";
      const barred = `${tooMuch} This happened in two sizes, so no other size is rendered for an hour.`;
      const detail = async (...asked: Parameters<typeof read>) => {
        const { status, text } = await read(...asked);
        return [status, status === 415 ? JSON.parse(text).detail : null];
      };
      expect(await detail(here, id, 1800)).toEqual([415, tooMuch]);
      expect(await detail(here, id, 1800)).toEqual([415, tooMuch]);
      expect(await detail(here, id, 1801)).toEqual([415, tooMuch]);
      expect(await detail(here, id, 1802)).toEqual([415, barred]);
      expect(here.renders).toHaveLength(2);
      const there = await start(frugal());
      expect(await detail(there, id, 1803)).toEqual([415, barred]);
      expect(there.renders).toEqual([]);
      expect(await detail(there, id, 1700)).toEqual([200, null]);

      clock.now += HOUR_MS;
      expect(await detail(there, id, 1804)).toEqual([415, tooMuch]);
      expect(await detail(there, id, 1805)).toEqual([415, barred]);
      expect(there.renders).toHaveLength(1);
    } finally {
      await Promise.all(sites.map((site) => site.close()));
      await storage.close();
    }
  },
);
