import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PNG } from "../../../test/calls.ts";
import {
  created,
  createSite,
  eventually,
  type ImageSite,
  keysOf,
  storedRecord,
} from "../../../test/image-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";

/** Creates an image that is queued for processing. `mark` makes its bytes unique. */
async function createLater(site: ImageSite, mark = ""): Promise<string> {
  const file = Buffer.concat([PNG, Buffer.from(mark)]);
  return created(await site.create({ file, headers: { prefer: "respond-async" } })).id;
}

function markOf(source: unknown): string {
  const bytes = (source as { bytes: Buffer }).bytes; // A memory store has no paths.
  return bytes.subarray(PNG.length).toString();
}

describe("the job queue of a process", () => {
  test("runs jobs in order, two at a time, beside uploads whose clients wait", async () => {
    const site = createSite();
    for (const mark of ["a", "b", "c", "d"]) await createLater(site, mark);
    const first = await site.renderer.next();
    const second = await site.renderer.next();
    expect([first, second].map(({ source }) => markOf(source))).toEqual(["a", "b"]);
    const waiting = site.create();
    const third = await site.renderer.next();
    expect("path" in third.source).toBe(true);
    third.accept();
    expect((await waiting).status).toBe(201);
    expect(site.renderer.calls).toBe(3);
    second.accept();
    expect(markOf((await site.renderer.next()).source)).toBe("c");
    first.accept();
    expect(markOf((await site.renderer.next()).source)).toBe("d");
  });

  test("answers 503 with Retry-After when it is full", async () => {
    const site = createSite();
    // Two are running.
    for (let count = 0; count < 1002; count++) await createLater(site);
    const answer = await site.create({ headers: { prefer: "respond-async" } });
    expect([answer.status, answer.headers["Retry-After"]]).toEqual([503, "5"]);
  });
});

describe("a job that fails for an external reason", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => vi.useRealTimers());

  test.each(["overloaded", "store_unavailable", "no_space"] as const)(
    "is retried without a limit after %s",
    async (code) => {
      const site = createSite();
      const id = await createLater(site);
      for (let attempt = 0; attempt < 5; attempt++) {
        (await site.renderer.next()).refuse(new ServiceError(code, "Not now."));
        await eventually(async () =>
          expect(await storedRecord(site.store, id)).toMatchObject({
            processing: { tries: 0, worker: null },
          }),
        );
        await vi.advanceTimersByTimeAsync(5000);
      }
      (await site.renderer.next()).accept();
      await eventually(async () => expect(await keysOf(site.store)).toHaveLength(2));
      expect((await site.send("GET", `/api/images/${id}.json`)).json.status).toBe("ready");
      expect(site.errors).toHaveLength(code === "overloaded" ? 0 : 5);
    },
  );

  test("is parked with 404 after three unexpected failures", async () => {
    const site = createSite();
    const id = await createLater(site);
    for (let attempt = 0; attempt < 3; attempt++) {
      (await site.renderer.next()).refuse(new TypeError("a bug"));
      await eventually(async () =>
        expect(await storedRecord(site.store, id)).toMatchObject({
          processing: { tries: attempt + 1, worker: null },
        }),
      );
      await vi.advanceTimersByTimeAsync(5000);
    }
    await eventually(async () => expect(await keysOf(site.store)).toEqual([`${id}/record`]));
    expect(await site.send("GET", `/${id}`)).toMatchObject({
      status: 404,
      json: { detail: "This file could not be processed in 3 tries." },
    });
    expect(site.errors).toEqual(Array(3).fill(new TypeError("a bug")));
    expect(site.renderer.calls).toBe(3);
  });

  test("delays the next job by a pause of at most 2 s", async () => {
    const site = createSite();
    site.renderer.answer = ({ source, accept, refuse }) =>
      markOf(source) === "good" ? accept() : refuse(new ServiceError("store_unavailable", "Damaged."));
    await createLater(site, "bad");
    await eventually(() => expect(site.errors).toHaveLength(1));
    const good = await createLater(site, "good");
    expect(await storedRecord(site.store, good)).toMatchObject({ processing: { tries: 0 } });
    await vi.advanceTimersByTimeAsync(2000);
    await eventually(async () =>
      expect(await storedRecord(site.store, good)).toMatchObject({ processing: null }),
    );
  });
});

describe("several processes on one store", () => {
  test("share the jobs, and no job runs twice", async () => {
    const one = createSite();
    const marks = Array.from({ length: 12 }, (_, index) => `picture ${index}`);
    for (const mark of marks) await createLater(one, mark);
    const two = one.another({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
    const three = one.another({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
    const done: string[] = [];
    for (const site of [one, two, three]) {
      site.renderer.answer = ({ source, accept }) => {
        done.push(markOf(source));
        setImmediate(() => accept());
      };
      for (const admitting of [...site.renderer.pending]) site.renderer.answer(admitting);
    }
    await eventually(async () => expect(await keysOf(one.store)).toHaveLength(2 * marks.length));
    expect(done.sort()).toEqual(marks.sort());
    expect([one, two, three].flatMap(({ errors }) => errors)).toEqual([]);
  });

  test("respect a lease until it expires, then one of them resumes the work", async () => {
    const one = createSite();
    const id = await createLater(one);
    const late = await one.renderer.next();
    one.clock.now += 14_999;
    const two = one.another({ renderer: createFakeRenderer() });
    await two.send("GET", `/${id}`);
    one.clock.now += 1;
    // A request for the image resumes the work without waiting for the next poll.
    expect((await two.send("GET", `/${id}`)).status).toBe(202);
    const inTime = await two.renderer.next();
    expect(two.renderer.calls).toBe(1);
    expect(await storedRecord(one.store, id)).toMatchObject({ processing: { tries: 2 } });
    inTime.accept({ width: 7, height: 7, pages: 1, cleaned: null });
    await eventually(async () => expect(await keysOf(one.store)).toEqual([`${id}/original`, `${id}/record`]));
    const ready = await storedRecord(one.store, id);
    late.accept({ width: 99, height: 99, pages: 1, cleaned: null });
    await one.images.close();
    expect(await storedRecord(one.store, id)).toEqual(ready);
    expect(await keysOf(one.store)).toEqual([`${id}/original`, `${id}/record`]);
    expect([...one.errors, ...two.errors]).toEqual([]);
  });

  test("keep the original of the new lease holder when the old holder's write ends late", async () => {
    const plain = createSite();
    const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
    const slow = plain.another({
      store: tapStore(plain.store, held.tap),
      renderer: createFakeRenderer(),
    });
    const id = await createLater(slow);
    (await slow.renderer.next()).accept();
    await held.reached;
    plain.clock.now += 15_000;
    const fast = plain.another({ renderer: createFakeRenderer(acceptAll) });
    await eventually(async () =>
      expect(await storedRecord(plain.store, id)).toMatchObject({ processing: null }),
    );
    const before = await plain.store.stat(`${id}/original`);
    held.letGo();
    await slow.images.close();
    expect(await plain.store.stat(`${id}/original`)).toEqual(before);
    expect([...slow.errors, ...fast.errors]).toEqual([]);
  });

  test("park a file after three lease holders died, even if these answer later", async () => {
    const first = createSite();
    const id = await createLater(first);
    const dead = [await first.renderer.next()];
    for (let death = 1; death < 3; death++) {
      first.clock.now += 15_000;
      dead.push(await first.another({ renderer: createFakeRenderer() }).renderer.next());
    }
    expect(await storedRecord(first.store, id)).toMatchObject({ processing: { tries: 3 } });
    first.clock.now += 15_000;
    const last = first.another({ renderer: createFakeRenderer() });
    await eventually(async () => expect(await keysOf(first.store)).toEqual([`${id}/record`]));
    for (const { accept } of dead) accept();
    await first.images.close();
    expect(last.renderer.calls).toBe(0);
    expect(await keysOf(first.store)).toEqual([`${id}/record`]);
    expect((await last.send("GET", `/${id}`)).json.detail).toMatch(/3 tries/);
  });

  test("complete a deletion despite heartbeats of the lease holder", async () => {
    const site = createSite();
    const { id, pin } = created(await site.create({ headers: { prefer: "respond-async" } }));
    await site.renderer.next();
    let beats = 0;
    const put: typeof site.store.put = async (key, body, options) => {
      // The first two attempts conflict, as with a concurrent heartbeat.
      if (key === `${id}/record` && beats++ < 2) {
        const record = await storedRecord(site.store, id);
        await site.store.put(key, Buffer.from(JSON.stringify(record)));
      }
      return site.store.put(key, body, options);
    };
    const other = site.another({ store: { ...site.store, put }, renderer: createFakeRenderer() });
    expect((await other.send("DELETE", `/api/images/${id}.json`, { fields: { pin } })).status).toBe(204);
    expect(beats).toBe(3);
    expect((await site.send("GET", `/${id}`)).status).toBe(410);
  });
});

describe("close", () => {
  test.each([
    ["queued work", 0],
    ["work behind a 202", 20],
  ])(
    "releases the lease of %s, so that other processes can resume it at once",
    async (_whence, asyncAfterMs) => {
      const one = createSite({ asyncAfterMs });
      const { id } = created(await one.create());
      await one.renderer.next();
      await one.images.close();
      expect(await storedRecord(one.store, id)).toMatchObject({
        processing: { tries: 0, worker: null, leaseUntil: one.clock.now },
      });
      const two = one.another({ renderer: createFakeRenderer(acceptAll) });
      await eventually(async () =>
        expect(await keysOf(one.store)).toEqual([`${id}/original`, `${id}/record`]),
      );
      expect([...one.errors, ...two.errors]).toEqual([]);
    },
  );
});

test("a lease is renewed while the work runs", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const site = createSite();
    const id = await createLater(site);
    const { accept } = await site.renderer.next();
    site.clock.now += 12_000;
    await vi.advanceTimersByTimeAsync(5000);
    await eventually(async () =>
      expect(await storedRecord(site.store, id)).toMatchObject({
        processing: { tries: 1, leaseUntil: site.clock.now + 15_000 },
      }),
    );
    accept();
    await eventually(async () => expect(await keysOf(site.store)).toHaveLength(2));
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
