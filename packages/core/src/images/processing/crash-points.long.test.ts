import { rm } from "node:fs/promises";
import { acceptAll, cleanedTo, createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { afterAll, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { type Fault, faultyStore } from "../../../test/dying-store.ts";
import {
  bytesAt,
  createSite,
  eventually,
  type ImageSite,
  keysOf,
  storedRecord,
} from "../../../test/image-site.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { Inspect } from "../record/inspect-rules.ts";

const CLEAN = Buffer.from("a clean picture");

const refuseAll: FakeRenderer["answer"] = ({ refuse }) =>
  refuse(new ServiceError("unsupported_media", "Its pixels end early."));
const hold: Inspect = () => "hold";
const refuse: Inspect = () => ({ refuse: "Not here." });

/** Cleaned copies that a killed process leaves behind. */
const cleanedPaths: string[] = [];
afterAll(async () => {
  for (const path of cleanedPaths) await rm(path, { force: true });
});

const cleanAll: FakeRenderer["answer"] = (admitting) => {
  cleanedPaths.push(admitting.options.cleanedPath);
  void cleanedTo(admitting, CLEAN).then(admitting.accept);
};

/** Creates an image in a process that meets the fault. Resolves to the ID in the reply, if any. */
async function createUnder(fault: Fault, site: ImageSite, isHit: () => boolean): Promise<string | null> {
  const reply = await Promise.race([
    // On a busy machine the reply may be a 201, sent before asyncAfterMs.
    site.create().then(({ status, json }) => (status < 300 ? String(json.id) : null)),
    fault === "dies"
      ? eventually(() => expect(isHit()).toBe(true)).then(() => null)
      : new Promise<null>(() => {}),
  ]);
  const isOver = async () => (await site.store.list("due-jobs/")).keys.length === 0;
  // An image whose ID was sent is processed until the fault.
  if (reply !== null) await eventually(async () => expect(isHit() || (await isOver())).toBe(true));
  return reply;
}

describe.each(["dies", "fails once"] as const)("an upload whose process or store call %s", (fault) => {
  test.each([
    ["a queued image", 0, acceptAll, PNG, undefined],
    ["a queued image that is cleaned", 0, cleanAll, CLEAN, undefined],
    ["an image that is finished in the background after asyncAfterMs", 20, acceptAll, PNG, undefined],
    ["a rejected file", 0, refuseAll, null, undefined],
    ["an image that inspect holds", 0, cleanAll, CLEAN, hold],
    ["an image that inspect holds after asyncAfterMs", 20, acceptAll, PNG, hold],
    ["an image that inspect refuses", 0, cleanAll, null, refuse],
  ])(
    "ends in the right state for %s, and leaves no orphaned blobs, at every call",
    async (_what, asyncAfterMs, answer, expected, inspect) => {
      let point = 0;
      for (let isHit = true; isHit; point++) {
        const store = createMemoryBlobStore();
        const faulty = faultyStore(store, point, fault);
        // asyncAfterMs ends before the renderer answers.
        const slowly: FakeRenderer["answer"] = (admitting) =>
          void setTimeout(() => answer?.(admitting), asyncAfterMs * 2);
        const site = createSite({
          store: faulty.store,
          asyncAfterMs,
          renderer: createFakeRenderer(slowly),
          inspect,
        });
        const told = await createUnder(fault, site, faulty.isHit);
        await faulty.settled();
        if (fault === "dies") site.kill();
        else await site.images.close();
        // Read it only when the background work is over: the fault may hit its last calls.
        isHit = faulty.isHit();

        const { clock } = site;
        clock.now += 15_000;
        const next = createSite({ store, clock, renderer: createFakeRenderer(answer), inspect });
        await eventually(async () => {
          const { keys } = await store.list("due-jobs/");
          const records = await Promise.all(keys.map((key) => storedRecord(store, key.slice(-22))));
          // A marker without a record belongs to an upload that may still be arriving.
          expect(records.filter((record) => record !== null)).toEqual([]);
        });
        clock.now += 900_000;
        createSite({ store, clock });
        await eventually(async () => expect((await store.list("due-jobs/")).keys).toEqual([]));

        // A held image is in a list of operators.
        const keys = (await keysOf(store)).filter((key) => !key.startsWith("marked/"));
        const [id] = [...new Set(keys.map((key) => key.split("/")[0] ?? ""))];
        const context = `call ${point}`;
        if (told !== null) expect(id, context).toBe(told);
        if (id === undefined) continue;
        expect(keys, context).toEqual(
          expected === null ? [`${id}/record`] : [`${id}/original`, `${id}/record`],
        );
        expect(await bytesAt(store, `${id}/original`), context).toEqual(expected);
        const answered = await next.send("GET", `/api/images/${id}.json`);
        expect([answered.status, answered.json.status], context).toEqual(
          expected === null ? [404, 404] : inspect === hold ? [202, "held"] : [200, "ready"],
        );
      }
      // Marker, upload, record, lease, original, record again, removal of upload and marker, and the reads between.
      expect(point).toBeGreaterThan(9);
    },
  );
});
