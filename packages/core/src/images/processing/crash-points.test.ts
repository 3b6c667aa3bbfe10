import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { acceptAll, cleanedTo, createFakeRenderer, type FakeRenderer } from "../../../test/fake-renderer.ts";
import {
  bytesAt,
  createSite,
  eventually,
  type ImageSite,
  keysOf,
  storedRecord,
} from "../../../test/image-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const CLEAN = Buffer.from("a clean picture");

const refuseAll: FakeRenderer["answer"] = ({ refuse }) =>
  refuse(new ServiceError("unsupported_media", "Its pixels end early."));
/** A process that died leaves them behind. */
const cleanedPaths: string[] = [];
afterAll(async () => {
  for (const path of cleanedPaths) await rm(path, { force: true });
});

const cleanAll: FakeRenderer["answer"] = (admitting) => {
  cleanedPaths.push(admitting.options.cleanedPath);
  void cleanedTo(admitting, CLEAN).then(admitting.accept);
};

/** What the process does to the store from a call on: nothing ever ends any more, or one call fails. */
type Fault = "dies" | "fails once";

interface FaultyStore {
  store: BlobStore;
  isHit(): boolean;
  /** Resolves when the calls that the fault spared are over: none of them takes the minutes that the clock is put on by. */
  settled(): Promise<void>;
}

/** A store whose calls, counted from 0, meet the fault at `point`. */
function faultyStore(store: BlobStore, point: number, fault: Fault): FaultyStore {
  let calls = 0;
  const underWay = new Set<Promise<unknown>>();
  const isFaulty = (index: number) => (fault === "dies" ? index >= point : index === point);
  const meet = async <T>(call: () => Promise<T>): Promise<T> => {
    if (!isFaulty(calls++)) {
      const passed = call();
      underWay.add(passed);
      return passed.finally(() => underWay.delete(passed));
    }
    if (fault === "fails once") throw new ServiceError("store_unavailable", "No answer.");
    return new Promise<T>(() => {});
  };
  return {
    isHit: () => calls > point,
    async settled() {
      await Promise.allSettled(underWay);
    },
    store: {
      put: (key, body, options) => {
        // A store never leaves a stream open, whatever becomes of it.
        if (body instanceof Readable && isFaulty(calls)) body.on("error", () => undefined).destroy();
        return meet(() => store.put(key, body, options));
      },
      get: (key, options) => meet(() => store.get(key, options)),
      stat: (key) => meet(() => store.stat(key)),
      delete: (key) => meet(() => store.delete(key)),
      // Looking for work is a beat of its own, which would make the count depend on time.
      list: (prefix, options) =>
        prefix.startsWith("due-") ? store.list(prefix, options) : meet(() => store.list(prefix, options)),
      close: async () => {},
    },
  };
}

/** Creates an image in a process that meets the fault. Resolves to the ID that its client was told, if any. */
async function createUnder(fault: Fault, site: ImageSite, isHit: () => boolean): Promise<string | null> {
  const reply = await Promise.race([
    // On a busy machine the client may have been answered before its patience ended: with 201.
    site.create().then(({ status, json }) => (status < 300 ? String(json.id) : null)),
    fault === "dies"
      ? eventually(() => expect(isHit()).toBe(true)).then(() => null)
      : new Promise<null>(() => {}),
  ]);
  const isOver = async () => (await site.store.list("due-jobs/")).keys.length === 0;
  // What the client was told of goes on until the fault.
  if (reply !== null) await eventually(async () => expect(isHit() || (await isOver())).toBe(true));
  return reply;
}

describe.each(["dies", "fails once"] as const)("a process whose store %s", (fault) => {
  test.each([
    ["of an image in line", 0, acceptAll, PNG],
    ["of an image in line that is cleaned", 0, cleanAll, CLEAN],
    ["of an image whose client did not wait to the end", 20, acceptAll, PNG],
    ["of a file that is refused", 0, refuseAll, null],
  ])("loses nothing %s, and leaves nothing behind", async (_what, asyncAfterMs, answer, expected) => {
    let point = 0;
    for (let isHit = true; isHit; point++) {
      const store = createMemoryBlobStore();
      const faulty = faultyStore(store, point, fault);
      // The client's patience ends before the renderer's answer comes.
      const slowly: FakeRenderer["answer"] = (admitting) =>
        void setTimeout(() => answer?.(admitting), asyncAfterMs * 2);
      const site = createSite({ store: faulty.store, asyncAfterMs, renderer: createFakeRenderer(slowly) });
      const told = await createUnder(fault, site, faulty.isHit);
      await faulty.settled();
      if (fault === "dies") site.kill();
      else await site.images.close();
      // Not before the work behind the reply is over: its last calls may be the ones that the fault meets.
      isHit = faulty.isHit();

      const { clock } = site;
      clock.now += 15_000;
      const next = createSite({ store, clock, renderer: createFakeRenderer(answer) });
      await eventually(async () => {
        const { keys } = await store.list("due-jobs/");
        const records = await Promise.all(keys.map((key) => storedRecord(store, key.slice(-22))));
        // A marker without a record belongs to an upload that may still be arriving.
        expect(records.filter((record) => record !== null)).toEqual([]);
      });
      clock.now += 900_000;
      createSite({ store, clock });
      await eventually(async () => expect((await store.list("due-jobs/")).keys).toEqual([]));

      const [id] = [...new Set((await keysOf(store)).map((key) => key.split("/")[0] ?? ""))];
      const context = `call ${point}`;
      if (told !== null) expect(id, context).toBe(told);
      if (id === undefined) continue;
      expect(await keysOf(store), context).toEqual(
        expected === null ? [`${id}/record`] : [`${id}/original`, `${id}/record`],
      );
      expect(await bytesAt(store, `${id}/original`), context).toEqual(expected);
      const answered = await next.send("GET", `/api/images/${id}.json`);
      expect([answered.status, answered.json.status], context).toEqual(
        expected === null ? [404, 404] : [200, "ready"],
      );
    }
    // Marker, upload, record, lease, original, record again, upload and marker away, and the looks between.
    expect(point).toBeGreaterThan(9);
  });
});
