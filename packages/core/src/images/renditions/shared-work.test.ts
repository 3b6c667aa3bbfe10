import { expect, test, vi } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { eventually } from "../../../test/image-site.ts";
import { createLeases } from "../../../test/leases.ts";
import { createLibrarySite, type NamingRenderer, namingRenderer } from "../../../test/library-site.ts";
import { holdUp, signal, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

/** An image in a store with these leases, for processes that each can read its WebP. None keeps bytes in memory. */
async function sharedImage(leases: object, store: BlobStore = createMemoryBlobStore()) {
  const first = createLibrarySite({ store: { ...store, ...leases }, memoryBytes: 0 });
  const { id } = await first.images.add(PNG);
  const start = (onRender: NamingRenderer["onRender"] = () => undefined) => {
    const renderer = Object.assign(namingRenderer(), { onRender });
    const site = first.another({ renderer });
    return { renderer, site, read: () => site.send("GET", `/api/images/${id}.webp`) };
  };
  return { key: `${id}/renditions/webp`, start };
}

const hang = () => new Promise(() => {});

test("of five processes that are asked for one rendition at once, one renders it for all", async () => {
  const leases = createLeases();
  const { start } = await sharedImage(leases);
  const { promise, give } = signal();
  const processes = Array.from({ length: 5 }, () => start(() => promise));
  const answers = Promise.all(processes.map(({ read }) => read()));
  await eventually(() => expect(leases.asked).toBeGreaterThan(5));
  give();
  const texts = (await answers).map(({ status, text }) => `${status} ${text}`);
  expect(new Set(texts)).toEqual(new Set(['200 {"format":"webp"}']));
  expect(processes.map(({ renderer }) => renderer.renders).sort()).toEqual([0, 0, 0, 0, 1]);
});

test("the lease of a render ends once the rendition is stored, and close() waits for its end", async () => {
  const leases = createLeases();
  const held = holdUp(({ method, key }) => method === "put" && key.includes("/renditions/"));
  const { key, start } = await sharedImage(leases, tapStore(createMemoryBlobStore(), held.tap));
  const { site, read } = start();
  expect((await read()).status).toBe(200);
  await held.reached;
  expect(await leases.acquireLease(key, 1000)).toBeNull();
  const closed = site.images.close();
  held.letGo();
  await closed;
  expect(await leases.acquireLease(key, 1000)).not.toBeNull();
});

test("if the process that renders dies, another renders once the lease expires", async () => {
  const leases = createLeases();
  const { start } = await sharedImage(leases);
  const [dying, other] = [start(hang), start()];
  void dying.read();
  await eventually(() => expect(leases.asked).toBe(1));
  const answer = other.read();
  await eventually(() => expect(leases.asked).toBeGreaterThan(2));
  expect(other.renderer.renders).toBe(0);
  dying.site.kill();
  leases.runOut();
  expect((await answer).status).toBe(200);
  expect(other.renderer.renders).toBe(1);
});

test("a render that fails ends its lease, so another process can render", async () => {
  const { start } = await sharedImage(createLeases());
  const failing = start(() => Promise.reject(new ServiceError("overloaded", "Not here.")));
  expect((await failing.read()).status).toBe(503);
  expect((await start().read()).status).toBe(200);
});

test("a read that waits 30 s for the render of another process answers 503 with Retry-After", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const leases = createLeases();
    const { start } = await sharedImage(leases);
    const [slow, other] = [start(hang), start()];
    void slow.read();
    await eventually(() => expect(leases.asked).toBe(1));
    const answer = other.read();
    await eventually(() => expect(leases.asked).toBeGreaterThan(2));
    vi.advanceTimersByTime(30_000);
    expect(await answer).toMatchObject({ status: 503, headers: { "Retry-After": "2" } });
    expect(other.renderer.renders).toBe(0);
    slow.site.kill();
  } finally {
    vi.useRealTimers();
  }
});

test("a lease that cannot be released is reported to onError, and the read still succeeds", async () => {
  const trouble = new ServiceError("store_unavailable", "It is away.");
  const releaseLease = () => Promise.reject(trouble);
  const { start } = await sharedImage({ ...createLeases(), releaseLease });
  const { site, read } = start();
  expect((await read()).status).toBe(200);
  await site.images.close();
  expect(site.errors).toEqual([trouble]);
});
