import { createMemoryBlobStore, ServiceError } from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { type BlobStore, ROLES } from "@outrigger/core/stores";
import { describe, expect, it } from "vitest";
import { refusalOf } from "../../storage/inspect-targets.ts";
import { createReadiness, type StoreInUse } from "./readiness.ts";

/** One store for all roles. */
function keptIn(store: BlobStore): StoreInUse[] {
  return [{ store, roles: ROLES }];
}

// Real parts cannot be made to hang, return wrong bytes or be overloaded.
function renderer(admit: Renderer["admit"]): Renderer {
  return {
    build: "test",
    measure: () => null,
    admit,
    render: () => Promise.reject(new Error("not asked")),
    close: async () => {},
  };
}

const working = renderer(async () => ({ width: 1, height: 1, pages: 1, cleaned: null }));

describe("createReadiness", () => {
  it("reports no trouble for working parts, and leaves no data behind", async () => {
    const storage = createMemoryBlobStore();
    expect(await createReadiness({ storage: keptIn(storage), renderer: working }).troubles()).toEqual({});
    expect((await storage.list("")).keys).toEqual([]);
  });

  it("reports a part that hangs after the timeout", async () => {
    const hanging = renderer(() => new Promise(() => {}));
    const readiness = createReadiness({
      storage: keptIn(createMemoryBlobStore()),
      renderer: hanging,
      timeoutMs: 50,
    });
    expect(await readiness.troubles()).toEqual({ renderer: new Error("No response within 50 ms") });
  });

  it("reports a store that loses or changes bytes", async () => {
    const storage = createMemoryBlobStore();
    const forgetful: BlobStore = { ...storage, get: async () => null };
    expect(await createReadiness({ storage: keptIn(forgetful), renderer: working }).troubles()).toEqual({
      storage: new Error("The blob written is missing"),
    });
    const garbling: BlobStore = {
      ...storage,
      put: (key, _body, options) => storage.put(key, Buffer.from("x"), options),
    };
    expect(await createReadiness({ storage: keptIn(garbling), renderer: working }).troubles()).toEqual({
      storage: new Error("The bytes read differ from the bytes written"),
    });
  });

  it("names the roles of a failing store among several, and checks each store once", async () => {
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

  it("names only the store that hangs if the check of the stores fails by it or hangs, and checks them once", async () => {
    const kept = createMemoryBlobStore();
    const hanging: BlobStore = { ...kept, put: () => new Promise(() => {}) };
    const storage: StoreInUse[] = [
      { store: createMemoryBlobStore(), roles: ["records"] },
      { store: hanging, roles: ["originals"] },
      { store: createMemoryBlobStore(), roles: ["renditions"] },
    ];
    const silent = new ServiceError("store_unavailable", "No answer.");
    for (const check of [() => Promise.reject(silent), () => new Promise<void>(() => {})]) {
      let asked = 0;
      const checkStores = () => {
        asked += 1;
        return check();
      };
      const readiness = createReadiness({ storage, renderer: working, checkStores, timeoutMs: 1000 });
      expect(Object.keys(await readiness.troubles())).toEqual(["originals"]);
      expect(asked).toBe(1);
    }
  });

  it("names the role of a refused store, and writes nothing there", async () => {
    const refused = createMemoryBlobStore();
    const storage: StoreInUse[] = [
      { store: createMemoryBlobStore(), roles: ["records"] },
      { store: { ...refused, put: () => Promise.reject(new Error("written")) }, roles: ["originals"] },
    ];
    const error = Object.assign(new ServiceError("store_unavailable", "Another."), { role: "originals" });
    const checkStores = () => Promise.reject(error);
    expect(await createReadiness({ storage, renderer: working, checkStores }).troubles()).toEqual({
      originals: error,
    });
  });

  it("a start names the store that does not answer, and the role of a damaged identity", async () => {
    const silent: BlobStore = {
      ...createMemoryBlobStore(),
      stat: () => Promise.reject(new ServiceError("store_unavailable", "No answer.")),
    };
    const file = (directory: string) => ({ kind: "file" as const, directory });
    const targets = { records: file("/a"), originals: file("/b"), renditions: file("/c") };
    const whole = createMemoryBlobStore();
    const stores = { records: whole, originals: silent, renditions: whole };
    const named = async (code: "damaged" | "store_unavailable") =>
      (await refusalOf(targets, stores, new ServiceError(code, "No."))).message;
    expect(await named("store_unavailable")).toContain("/b");
    expect(await named("damaged")).toContain("/a");
  });

  it("is ready with a full store of renditions, but not with a full store of originals", async () => {
    const full = createMemoryBlobStore({ maxBytes: 1 });
    const others: StoreInUse = { store: createMemoryBlobStore(), roles: ["records", "originals"] };
    const renditions: StoreInUse = { store: full, roles: ["renditions"] };
    expect(await createReadiness({ storage: [others, renditions], renderer: working }).troubles()).toEqual(
      {},
    );
    const all = createReadiness({ storage: keptIn(full), renderer: working });
    expect(Object.keys(await all.troubles())).toEqual(["storage"]);
  });

  it("is ready if the queue of the renderer is full", async () => {
    const busy = renderer(() =>
      Promise.reject(new ServiceError("overloaded", "full", { retryAfterMs: 1000 })),
    );
    expect(
      await createReadiness({ storage: keptIn(createMemoryBlobStore()), renderer: busy }).troubles(),
    ).toEqual({});
  });

  it("checks once for concurrent calls and for calls within a second", async () => {
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
