import { createFakeRenderer } from "@outrigger/testing";
import { expect, test, vi } from "vitest";
import { type CallOptions, PNG } from "../../../test/calls.ts";
import { type Answer, eventually, type ImageSite, keysOf, storedRecord } from "../../../test/image-site.ts";
import { anotherProcess, createLifeSite, DAY, entriesOf, willingRenderer } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { CLAIM_MS } from "./claims.ts";

const KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const OTHER_FILE = Buffer.concat([PNG, Buffer.from("another")]);

function create(site: ImageSite, { headers, ...options }: CallOptions = {}): Promise<Answer> {
  return site.create({ headers: { "idempotency-key": KEY, ...headers }, ...options });
}

async function imagesIn(site: ImageSite): Promise<number> {
  return (await keysOf(site.store)).filter((key) => key.endsWith("/record")).length;
}

test("an Idempotency-Key expires after a day, with or without a sweep", async () => {
  for (const sweeps of [false, true]) {
    const site = createLifeSite();
    const first = await create(site, { search: "expiresAt=2026-03-09T00:00:00.000Z" });
    site.clock.now += DAY - 1;
    if (sweeps) await site.images.sweep();
    expect((await create(site, { search: "expiresAt=2026-03-09T00:00:00.000Z" })).json.id).toBe(
      first.json.id,
    );
    site.clock.now += 1;
    if (sweeps) await site.images.sweep();
    const next = await create(site, { file: OTHER_FILE });
    expect(next.status).toBe(201);
    expect(next.json.id).not.toBe(first.json.id);
    expect((await create(site, { file: OTHER_FILE })).json.id).toBe(next.json.id);
  }
});

test("a sweep deletes expired claims and keeps a claim that replaced one", async () => {
  const site = createLifeSite();
  await create(site);
  site.clock.now += DAY;
  const second = await create(site);
  await site.images.sweep();
  expect((await create(site)).json.id).toBe(second.json.id);
  site.clock.now += DAY;
  await site.images.sweep();
  expect((await keysOf(site.store)).filter((key) => key.startsWith("idempotency/"))).toEqual([]);
  expect(await entriesOf(site.store, "claims")).toEqual([]);
});

test("a claim that cannot be deleted does not stop the sweep of other claims and images", async () => {
  const kept = createMemoryBlobStore();
  let broken = "";
  const store = tapStore(kept, ({ method, key }) => {
    if (method === "delete" && key === broken) throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  const claims = async () => (await keysOf(kept)).filter((key) => key.startsWith("idempotency/"));
  await create(site);
  [broken = ""] = await claims();
  site.clock.now += 1;
  await create(site, { headers: { "idempotency-key": "another" } });
  site.clock.now += DAY;
  expect(await site.images.sweep()).toMatchObject({ emptied: 2, failed: 0 });
  expect(await claims()).toEqual([broken]);
  expect(site.errors).toHaveLength(1);
  broken = "";
  await site.images.sweep();
  expect(await claims()).toEqual([]);
});

test("a repeated create answers 409 until the claim of a dead process expires, then one image is created", async () => {
  const store = createMemoryBlobStore();
  const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
  const dying = createLifeSite({ store: tapStore(store, held.tap) });
  void create(dying);
  await held.reached;
  dying.kill();
  const { clock } = dying;
  const site = createLifeSite({ store, clock });
  clock.now += CLAIM_MS - 1;
  expect((await create(site)).status).toBe(409);
  clock.now += 1;
  const answers = await Promise.all([create(site), create(anotherProcess(site))]);
  const statuses = answers.map(({ status }) => status).sort();
  expect([
    [201, 201],
    [201, 409],
  ]).toContainEqual(statuses);
  expect(await imagesIn(site)).toBe(1);
});

test("a claim that could not be released expires, and the key can be used again", async () => {
  const kept = createMemoryBlobStore();
  let isBroken = true;
  const store = tapStore(kept, ({ method, key }) => {
    if (isBroken && method === "delete" && key.startsWith("idempotency/"))
      throw new ServiceError("store_unavailable", "No answer.");
  });
  const renderer = willingRenderer();
  renderer.answer = ({ refuse }) => refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  const site = createLifeSite({ store, renderer });
  expect((await create(site)).status).toBe(415);
  expect(site.errors).toHaveLength(1);
  isBroken = false;
  renderer.answer = ({ accept }) => accept();
  expect((await create(site)).status).toBe(409);
  site.clock.now += CLAIM_MS;
  expect((await create(site)).status).toBe(201);
});

test("after a renewal whose reply was lost the Idempotency-Key can be used again at once", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const kept = createMemoryBlobStore();
    let writes = 0;
    const put: typeof kept.put = async (key, body, options) => {
      const info = await kept.put(key, body, options);
      if (key.startsWith("idempotency/") && ++writes === 2)
        throw new ServiceError("store_unavailable", "No answer.");
      return info;
    };
    const site = createLifeSite({ store: { ...kept, put }, renderer: createFakeRenderer() });
    const first = create(site);
    const admitting = await site.renderer.next();
    await vi.advanceTimersByTimeAsync(CLAIM_MS / 3);
    await expect.poll(() => site.errors).toHaveLength(1);
    admitting.accept();
    expect((await first).status).toBe(409);
    const second = create(site);
    (await site.renderer.next()).accept();
    expect((await second).status).toBe(201);
  } finally {
    vi.useRealTimers();
  }
});

test("an Idempotency-Key can be used for another file once its first upload has failed or its claim has lapsed", async () => {
  const site = createLifeSite({ renderer: createFakeRenderer(), asyncAfterMs: 0 });
  const first = await create(site);
  const work = await site.renderer.next();
  const running = await create(site, { file: OTHER_FILE });
  expect([first.status, running.status, running.headers["Retry-After"]]).toEqual([202, 409, undefined]);
  work.refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  await eventually(async () =>
    expect((await storedRecord(site.store, String(first.json.id)))?.failure).not.toBeNull(),
  );
  expect((await create(anotherProcess(site, { asyncAfterMs: false }), { file: OTHER_FILE })).status).toBe(
    201,
  );

  const lapsing = createLifeSite({ renderer: createFakeRenderer() });
  const sleeping = create(lapsing);
  const admitting = await lapsing.renderer.next();
  const again = anotherProcess(lapsing);
  const early = await create(again, { file: OTHER_FILE });
  expect([early.status, early.headers["Retry-After"]]).toEqual([409, "2"]);
  lapsing.clock.now += CLAIM_MS;
  expect((await create(again, { file: OTHER_FILE })).status).toBe(201);
  admitting.accept();
  expect((await sleeping).status).toBe(409);
  expect(await imagesIn(lapsing)).toBe(1);
});

test.each(["", "{", '{"id":7}'])(
  "a damaged claim with the bytes %o is reported, replaced by the next create and swept",
  async (text) => {
    const site = createLifeSite();
    await create(site);
    const [key = ""] = (await keysOf(site.store)).filter((each) => each.startsWith("idempotency/"));
    await site.store.put(key, Buffer.from(text));
    const answers = await Promise.all([create(site), create(site)]);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect((await create(site)).json.id).toBe(made[0]?.json.id);
    expect(site.errors.map(String).join()).toContain(key);
    await site.store.put(key, Buffer.from(text));
    site.clock.now += DAY;
    await site.images.sweep();
    expect((await keysOf(site.store)).filter((each) => each.startsWith("idempotency/"))).toEqual([]);
  },
);
