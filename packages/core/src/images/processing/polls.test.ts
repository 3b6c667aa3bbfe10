import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test, vi } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { created, createSite, eventually, type ImageSite } from "../../../test/image-site.ts";
import type { DueIndex } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import { createDueList } from "../../stores/due-list.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

async function createLater(site: ImageSite, file = PNG): Promise<string> {
  return created(await site.create({ file, headers: { prefer: "respond-async" } })).id;
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

test("the failure of a poll is reported again after 30 s, or when its message changes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    let message = "No answer.";
    const due: DueIndex = {
      addDue: async () => {},
      removeDue: async () => {},
      async listDue(list) {
        if (list === "jobs") throw new ServiceError("store_unavailable", message);
        return [];
      },
    };
    const site = createSite({ store: { ...createMemoryBlobStore(), ...due } });
    await vi.advanceTimersByTimeAsync(29_000);
    expect(site.errors).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(7_000);
    expect(site.errors).toHaveLength(2);
    message = "Access denied.";
    await vi.advanceTimersByTimeAsync(5_000);
    expect(site.errors.map(String)).toEqual([
      expect.stringContaining("No answer."),
      expect.stringContaining("No answer."),
      expect.stringContaining("Access denied."),
    ]);
  } finally {
    vi.useRealTimers();
  }
});

describe("a process with processUploads: false", () => {
  test("answers 503 with Retry-After while 1000 uploads wait", async () => {
    const site = createSite({ processUploads: false });
    const pending = createDueList(site.store, "jobs");
    for (let count = 0; count < 1000; count++)
      await pending.add({ id: String(count).padStart(22, "x"), dueMs: 0 });
    const answer = await site.create({ headers: { prefer: "respond-async" } });
    expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "5"]);
  });
});
