import { type BlobStore, createMemoryBlobStore, type Renderer, ServiceError } from "@outrigger/core";
import { describe, expect, it } from "vitest";
import { ROLES } from "../../config/targets/storage-target.ts";
import { createReadiness, type StoreInUse } from "./readiness.ts";

/** One store for everything. */
function keptIn(store: BlobStore): StoreInUse[] {
  return [{ store, roles: ROLES }];
}

// Parts that hang, lie or are overloaded cannot be had for real at will.
function renderer(admit: Renderer["admit"]): Renderer {
  return {
    build: "test",
    look: () => 1,
    measure: () => null,
    canRender: () => true,
    admit,
    render: () => Promise.reject(new Error("not asked")),
    close: async () => {},
  };
}

const working = renderer(async () => ({ width: 1, height: 1, pages: 1, cleaned: null }));

describe("createReadiness", () => {
  it("finds no trouble where there is none, and leaves nothing behind", async () => {
    const storage = createMemoryBlobStore();
    expect(await createReadiness({ storage: keptIn(storage), renderer: working }).troubles()).toEqual({});
    expect((await storage.list("")).keys).toEqual([]);
  });

  it("does not wait for a part that hangs", async () => {
    const hanging = renderer(() => new Promise(() => {}));
    const readiness = createReadiness({
      storage: keptIn(createMemoryBlobStore()),
      renderer: hanging,
      timeoutMs: 50,
    });
    expect(await readiness.troubles()).toEqual({ renderer: new Error("No answer within 50 ms") });
  });

  it("tells the parts to give up at the deadline", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const hanging = renderer((_source, _type, _options, work) => {
      signals.push(work?.signal);
      return new Promise(() => {});
    });
    await createReadiness({
      storage: keptIn(createMemoryBlobStore()),
      renderer: hanging,
      timeoutMs: 50,
    }).troubles();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it("finds a storage that forgets or garbles what it was given", async () => {
    const storage = createMemoryBlobStore();
    const forgetful: BlobStore = { ...storage, get: async () => null };
    expect(await createReadiness({ storage: keptIn(forgetful), renderer: working }).troubles()).toEqual({
      storage: new Error("What was stored is not there"),
    });
    const garbling: BlobStore = {
      ...storage,
      put: (key, _body, options) => storage.put(key, Buffer.from("x"), options),
    };
    expect(await createReadiness({ storage: keptIn(garbling), renderer: working }).troubles()).toEqual({
      storage: new Error("What was stored came back as something else"),
    });
  });

  it("names the roles of the store that fails where there are several, and asks each store once", async () => {
    const [whole, broken] = [createMemoryBlobStore(), createMemoryBlobStore()];
    await broken.close();
    const storage: StoreInUse[] = [
      { store: whole, roles: ["records"] },
      { store: broken, roles: ["originals", "renditions"] },
    ];
    const readiness = createReadiness({ storage, renderer: working });
    expect(readiness.parts).toEqual(["records", "originals", "renditions", "renderer"]);
    expect(Object.keys(await readiness.troubles())).toEqual(["originals", "renditions"]);
  });

  it("takes a store of renditions that is full for ready, and one of originals not", async () => {
    const full = createMemoryBlobStore({ maxBytes: 1 });
    const others: StoreInUse = { store: createMemoryBlobStore(), roles: ["records", "originals"] };
    const renditions: StoreInUse = { store: full, roles: ["renditions"] };
    expect(await createReadiness({ storage: [others, renditions], renderer: working }).troubles()).toEqual(
      {},
    );
    const all = createReadiness({ storage: keptIn(full), renderer: working });
    expect(Object.keys(await all.troubles())).toEqual(["storage"]);
  });

  it("takes a renderer whose queue is full for one that answers", async () => {
    const busy = renderer(() =>
      Promise.reject(new ServiceError("overloaded", "full", { retryAfterMs: 1000 })),
    );
    expect(
      await createReadiness({ storage: keptIn(createMemoryBlobStore()), renderer: busy }).troubles(),
    ).toEqual({});
  });

  it("asks once for all who ask at the same time or within a second", async () => {
    let asked = 0;
    const counting = renderer(async () => {
      asked += 1;
      return { width: 1, height: 1, pages: 1, cleaned: null };
    });
    const readiness = createReadiness({ storage: keptIn(createMemoryBlobStore()), renderer: counting });
    await Promise.all([readiness.troubles(), readiness.troubles()]);
    await readiness.troubles();
    expect(asked).toBe(1);
  });
});
