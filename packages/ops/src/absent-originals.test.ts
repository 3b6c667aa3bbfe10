import { expect, test } from "vitest";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { PNG } from "../../core/test/calls.ts";
import { created, keysOf } from "../../core/test/image-site.ts";
import { createLifeSite } from "../../core/test/life-site.ts";
import { divided, lose, statusOf, stockedSite, unclosed } from "../test/divided-site.ts";
import { verified } from "../test/verify-site.ts";
import type { PlannedRemovals } from "./verify-options.ts";

test.each([1, 2, 6])(
  "no number ends the only %i images while a place without a mark has none of their originals; it ends those that do not come back",
  async (images) => {
    const { site, storage, ids } = await divided(images);
    // One that ended long ago is no image that could have its original.
    const { id: gone } = created(await site.create());
    await site.images.remove(gone);
    const lost = { ...storage, originals: createMemoryBlobStore() };
    const planned: PlannedRemovals[] = [];
    const repaired = (maxRemovals?: number) =>
      verified(site, {
        ...{ storage: lost, repair: true, maxRemovals },
        onRemovals: (each) => planned.push(each),
      });
    const refusal = await repaired().catch((error: Error) => error.message);
    expect(refusal).toMatch(
      new RegExp(`0 of ${images} images looked up have their original there. Mount or name the right one`),
    );
    expect(refusal).toMatch(/outrigger restore\. After that, .* --repair --max-removals <number> ends the/);
    expect((await repaired(1000)).report).toMatchObject({ defects: images, repaired: 0 });
    expect(planned).toMatchObject([{ removals: images, isAllowed: false, areAllAbsent: true }]);
    expect(await keysOf(lost.originals)).toEqual([]);
    await expect(createLifeSite({ storage: unclosed(lost) } as object).images.ready()).rejects.toThrow(
      "its mark",
    );
    for (const id of ids) expect(await statusOf(site, id)).toBe(200);

    const [back = "", ...others] = ids;
    await lost.originals.put(`${back}/original`, PNG);
    expect((await repaired(1000)).report).toMatchObject({ defects: images - 1, repaired: images - 1 });
    expect((await keysOf(lost.originals)).sort()).toEqual([`${back}/original`, "identity/originals"].sort());
    const next = createLifeSite({ clock: site.clock, storage: unclosed(lost) } as object);
    await next.images.ready();
    expect(await statusOf(next, back)).toBe(200);
    for (const id of others) expect(await statusOf(next, id)).toBe(410);
    expect((await next.create()).status).toBe(201);
  },
);

test("more than three images are not ended while a marked place, or one store, has none of their originals", async () => {
  const { site, storage, ids } = await divided(4);
  await lose(storage.originals, ids);
  expect((await verified(site, { storage, repair: true, maxRemovals: 4 })).report).toMatchObject({
    defects: 4,
    repaired: 0,
  });
  const one = await stockedSite(4);
  await lose(one.site.store, one.ids);
  const backup = createMemoryBlobStore();
  expect((await verified(one.site, { repair: true, maxRemovals: 9, backup })).report.repaired).toBe(0);
  const [id = ""] = one.ids;
  await one.site.store.put(`${id}/original`, PNG);
  expect((await verified(one.site, { repair: true, maxRemovals: 3 })).report.repaired).toBe(3);
});
