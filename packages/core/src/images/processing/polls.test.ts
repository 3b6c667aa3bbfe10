import { describe, expect, test, vi } from "vitest";
import { acceptAll, createFakeRenderer } from "../../../test/fake-renderer.ts";
import { created, createSite, eventually, type ImageSite } from "../../../test/image-site.ts";
import { createDueList } from "../../stores/due-list.ts";

async function createLater(site: ImageSite): Promise<string> {
  return created(await site.create({ headers: { prefer: "respond-async" } })).id;
}

test("a process finds an upload that another process accepted at its next poll", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const front = createSite({ processUploads: false });
    // The interval of a store without a due index.
    const back = front.another({ processUploads: true, renderer: createFakeRenderer() });
    await vi.advanceTimersByTimeAsync(100);
    await createLater(front);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(back.renderer.calls).toBe(0);
    await vi.advanceTimersByTimeAsync(1_000);
    await eventually(() => expect(back.renderer.calls).toBe(1));
  } finally {
    vi.useRealTimers();
  }
});

describe("a process with processUploads: false", () => {
  test("leaves its uploads to another process", async () => {
    const site = createSite({ processUploads: false });
    const id = await createLater(site);
    expect((await site.send("GET", `/api/images/${id}.json`)).json.status).toBe("processing");
    const worker = site.another({ processUploads: true, renderer: createFakeRenderer(acceptAll) });
    await eventually(async () =>
      expect((await worker.send("GET", `/api/images/${id}.json`)).json.status).toBe("ready"),
    );
    expect(site.renderer.calls).toBe(0);
  });

  test("answers 503 with Retry-After while 1000 uploads wait", async () => {
    const site = createSite({ processUploads: false });
    const pending = createDueList(site.store, "jobs");
    for (let count = 0; count < 1000; count++)
      await pending.add({ id: String(count).padStart(22, "x"), dueMs: 0 });
    const answer = await site.create({ headers: { prefer: "respond-async" } });
    expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "5"]);
  });
});
