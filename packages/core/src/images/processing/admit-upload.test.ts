import { setTimeout as delay } from "node:timers/promises";
import { acceptAll, cleanedTo, createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, created, eventually, keysOf, storedRecord } from "../../../test/image-site.ts";
import { createLifeSite, STORES } from "../../../test/life-site.ts";
import type { Inspect, InspectedFile, InspectedImage, InspectVerdict } from "../record/inspect-rules.ts";

const CLEAN = Buffer.from("a clean picture");

/** A handler that returns what it must not, as a host without types might. */
const returning =
  (given: unknown): Inspect =>
  async () =>
    given as InspectVerdict; // On purpose.

interface Seen {
  file: InspectedFile;
  image: InspectedImage;
  path: string | null;
  bytes: Buffer;
  streamed: Buffer;
}

/** An `inspect` that reads the file in both ways. */
function recording(verdict: InspectVerdict): { inspect: Inspect; seen: Seen[] } {
  const seen: Seen[] = [];
  return {
    seen,
    inspect: async (file, image, call) => {
      const streamed = Buffer.concat(await file.stream().toArray());
      seen.push({ file, image, path: call?.path ?? null, bytes: await file.bytes(), streamed });
      return verdict;
    },
  };
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("inspect sees the cleaned bytes, the facts and the request of an upload before it is served", async () => {
    const { inspect, seen } = recording("accept");
    const renderer = createFakeRenderer(
      (admitting) => void cleanedTo(admitting, CLEAN).then(admitting.accept),
    );
    const site = createLifeSite({
      store: createStore(),
      renderer,
      inspect,
      authorize: () => ({ owner: "anna" }),
    });
    const answer = await site.create();
    expect(answer.status).toBe(201);
    expect(seen).toEqual([
      {
        file: expect.anything(),
        image: expect.objectContaining({
          ...{ id: answer.json.id, type: "image/png", size: CLEAN.length, owner: "anna", pages: 1 },
          sha256: (await storedRecord(site.store, String(answer.json.id)))?.sha256,
        }),
        path: "/api/images.json",
        bytes: CLEAN,
        streamed: CLEAN,
      },
    ]);
  });

  test("an upload that inspect refuses answers 403 with the reason, and leaves nothing", async () => {
    const stored: string[] = [];
    const site = createLifeSite({
      store: createStore(),
      inspect: () => ({ refuse: "No maps, please." }),
      onStored: ({ id }) => stored.push(id),
    });
    const answer = await site.create();
    expect([answer.status, answer.json.detail]).toEqual([403, "No maps, please."]);
    expect(await keysOf(site.store)).toEqual([]);
    expect([stored, site.errors]).toEqual([[], []]);
    await expect(site.images.add(PNG)).rejects.toMatchObject({
      code: "forbidden",
      message: "No maps, please.",
    });
  });

  test("an upload that inspect refuses after its 202 answers 404 with the reason, and its bytes are removed", async () => {
    const site = createLifeSite({
      store: createStore(),
      asyncAfterMs: 0,
      inspect: () => ({ refuse: "No maps." }),
    });
    const { id } = created(await site.create());
    await eventually(async () =>
      expect(await site.send("GET", `/api/images/${id}.png`)).toMatchObject({
        status: 404,
        json: { detail: "No maps." },
      }),
    );
    await eventually(async () => expect(await keysOf(site.store)).toEqual([`${id}/record`]));
  });

  test.each([0, false] as const)(
    "an upload that inspect holds answers 202 with status held (asyncAfterMs %j)",
    async (asyncAfterMs) => {
      const site = createLifeSite({ store: createStore(), asyncAfterMs, inspect: () => "hold" });
      const { id } = created(await site.create());
      await eventually(async () =>
        expect(await site.send("GET", `/api/images/${id}.json`)).toMatchObject({
          status: 202,
          json: { id, status: "held" },
          headers: { "Retry-After": "30", "Cache-Control": "no-store" },
        }),
      );
      expect(await bytesAt(site.store, `${id}/original`)).toEqual(PNG);
      expect(await storedRecord(site.store, id)).toMatchObject({ v: 1, held: { since: site.clock.now } });
    },
  );
});

test("a synchronous upload that is held answers 202, as do its repetition by key and the form of the upload page", async () => {
  const site = createLifeSite({ inspect: () => "hold" });
  const KEY = { headers: { "idempotency-key": "8e03978e-40d5" } };
  const first = await site.create(KEY);
  expect(first).toMatchObject({ status: 202, json: { status: "held" }, headers: { "Retry-After": "30" } });
  expect(first.json.pin).toMatch(/^\w/);
  const again = await site.create(KEY);
  expect([again.status, again.json]).toEqual([202, first.json]);
  const added = await site.images.add(PNG, { wait: true });
  expect(added.status).toBe("held");
  await expect(site.images.open(added.id)).rejects.toMatchObject({
    code: "processing",
    message: "The image waits for review",
    retryAfterMs: 30_000,
  });
});

describe("an inspect that fails", () => {
  const FAULTS: [string, Inspect][] = [
    ["throws", () => Promise.reject(new Error("down"))],
    [
      "throws at once",
      () => {
        throw new Error("down");
      },
    ],
    ["never settles", () => new Promise(() => {})],
    ["returns nothing", returning(undefined)],
    ["returns true", returning(true)],
    ["returns another word", returning("Accept")],
    ["refuses without a reason", returning({ refuse: " " })],
    ["refuses with a reason that is no text", returning({ refuse: { toString: () => "x" } })],
    ["refuses with a book", returning({ refuse: "x".repeat(1001) })],
  ];

  test.each(FAULTS)("holds the image, and is reported, if it %s", async (_what, inspect) => {
    const site = createLifeSite({ inspect, inspectTimeoutMs: 20 });
    const answer = await site.create();
    expect([answer.status, answer.json.status]).toEqual([202, "held"]);
    expect(site.errors.map(String)).toEqual([
      `Error: The inspection of image ${answer.json.id} failed: hold`,
    ]);
  });

  test("keeps a file that it reads too late from ending the process", async () => {
    let file: InspectedFile | undefined;
    const late: Inspect = (given) => {
      file = given;
      return new Promise(() => {});
    };
    const site = createLifeSite({ inspect: late, inspectTimeoutMs: 5, store: STORES.disk() });
    expect((await site.create()).status).toBe(202);
    file?.stream();
    await delay(20);
    await expect.poll(() => file?.bytes().catch(({ code }) => code)).toBe("ENOENT");
  });
});

test("an upload whose process dies while it is inspected is inspected again, without its request, by another process", async () => {
  const hanging = createLifeSite({
    asyncAfterMs: 0,
    inspect: () => new Promise(() => {}),
    inspectTimeoutMs: 60_000,
  });
  const { id } = created(await hanging.create());
  await eventually(async () =>
    expect((await storedRecord(hanging.store, id))?.processing?.worker).toMatch(/./),
  );
  expect(await storedRecord(hanging.store, id)).toMatchObject({ v: 1, processing: { inspect: true } });
  hanging.kill();
  hanging.clock.now += 16_000;
  const { inspect, seen } = recording({ refuse: "Not here." });
  const next = hanging.another({ inspect, renderer: createFakeRenderer(acceptAll) });
  await eventually(async () =>
    expect((await next.send("GET", `/${id}`)).json).toMatchObject({ status: 404, detail: "Not here." }),
  );
  expect(seen).toMatchObject([{ path: null, bytes: PNG, image: { id } }]);
});

test("a process without inspect holds what another promised to inspect", async () => {
  const renderer = createFakeRenderer();
  const first = createLifeSite({ asyncAfterMs: 0, renderer, inspect: () => "accept" });
  const { id } = created(await first.create());
  first.kill();
  first.clock.now += 16_000;
  const plain = first.another({ inspect: undefined, renderer: createFakeRenderer(acceptAll) });
  await eventually(async () =>
    expect((await plain.send("GET", `/api/images/${id}.json`)).json.status).toBe("held"),
  );
  expect(plain.errors.map(String)).toEqual([`Error: The inspection of image ${id} failed: hold`]);
});

test("a client that leaves during the inspection leaves nothing behind", async () => {
  const leaving = new AbortController();
  const inspect: Inspect = () => {
    leaving.abort(new Error("gone away"));
    return new Promise(() => {});
  };
  const site = createLifeSite({ inspect });
  await expect(site.images.add(PNG, { signal: leaving.signal })).rejects.toThrow("gone away");
  expect(await keysOf(site.store)).toEqual([]);
  expect(site.errors).toEqual([]);
});

test("an upload by ticket and an addition in code are inspected too, and a ticket repeats the held reply", async () => {
  const { inspect, seen } = recording("hold");
  const site = createLifeSite({ inspect });
  const { url } = await site.images.ticket({ expiresIn: "1h" });
  const search = new URL(url, "https://x.example").search.slice(1);
  const uploaded = await site.create({ search });
  const again = await site.create({ search });
  expect([uploaded.status, again.status, again.json.id]).toEqual([202, 202, uploaded.json.id]);
  await site.images.add(PNG);
  expect(seen.map(({ path }) => path)).toEqual(["/api/images.json", null]);
});
