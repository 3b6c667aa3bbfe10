import { expect, test } from "vitest";
import { created } from "../../../test/image-site.ts";
import { createHastyDiskStore, createLifeSite } from "../../../test/life-site.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

test("stats() counts a directory and a store without queries", async () => {
  for (const store of [createHastyDiskStore(), createMemoryBlobStore()]) {
    const { images, create } = createLifeSite({ store });
    for (let count = 0; count < 60; count++) {
      const { id } = created(await create());
      if (count % 30 === 0) await images.remove(id);
    }
    // A directory of records may contain names that are not images.
    await store.put("owners/abc/1", Buffer.from("{}"));
    const stats = await images.stats();
    expect(stats).toMatchObject({ images: 60, bytes: 58 * 34, newer: 0 });
    expect(stats.states).toMatchObject({ ready: 58, deleted: 2 });
  }
});
