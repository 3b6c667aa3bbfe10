import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { endless, MIB } from "../test/endless.ts";
import { toFetchHandler } from "./fetch-handler.ts";

const streaming = (source: Readable) =>
  toFetchHandler(
    { handle: async () => ({ status: 200, headers: { "Content-Type": "image/png" }, body: source }) },
    { clientAddress: () => "203.0.113.9" },
  );

describe("the stream of a reply", () => {
  it("is read only as far as its consumer reads, and destroyed when the consumer cancels", async () => {
    const source = endless();
    const reply = await streaming(source)(new Request("http://localhost/"));
    const reader = reply.body?.getReader();
    await wait(20);
    expect(source.produced).toBe(0);
    await reader?.read();
    await wait(20);
    expect(source.produced).toBeLessThanOrEqual(3 * MIB);
    await reader?.cancel();
    expect(source.destroyed).toBe(true);
  });

  // `Readable.toWeb` throws ERR_INVALID_STATE for one of these sources.
  it("throws nothing where it cannot be caught, whenever its consumer cancels or its client disconnects", async () => {
    const stray: unknown[] = [];
    const onStray = (error: unknown) => stray.push(error);
    process.on("uncaughtException", onStray).on("unhandledRejection", onStray);
    const small = (count: number) => () =>
      Readable.from(Array(count).fill(Buffer.alloc(9)), { objectMode: false });
    const endings = ["cancels", "disconnects", "fails"];
    try {
      for (const ending of endings) {
        for (const make of [small(1), small(5), endless]) {
          for (let step = 0; step < 18; step++) {
            const abort = new AbortController();
            const source = make();
            const request = new Request("http://localhost/", { signal: abort.signal });
            const reader = (await streaming(source)(request)).body?.getReader();
            for (let read = 0; read < step % 3; read++) await reader?.read();
            const pending = step % 2 === 0 ? undefined : reader?.read().catch(() => {});
            for (let turn = 0; turn < Math.floor(step / 3); turn++)
              await new Promise((resolve) => setImmediate(resolve));
            if (ending === "disconnects") abort.abort();
            if (ending === "fails") source.destroy(new Error("disk gone"));
            await reader?.cancel().catch(() => {});
            await pending;
            await expect.poll(() => source.closed).toBe(true);
          }
        }
      }
      await wait(20);
    } finally {
      process.off("uncaughtException", onStray).off("unhandledRejection", onStray);
    }
    expect(stray).toEqual([]);
  });

  it("fails with the error of a source that failed before it was read", async () => {
    const source = endless();
    const reply = await streaming(source)(new Request("http://localhost/"));
    source.destroy(new Error("disk gone"));
    await wait(5);
    await expect(reply.arrayBuffer()).rejects.toThrow("disk gone");
  });

  it("is destroyed when the client disconnects, although the host does not cancel it", async () => {
    const abort = new AbortController();
    const source = endless();
    const reply = await streaming(source)(new Request("http://localhost/", { signal: abort.signal }));
    abort.abort();
    expect(source.destroyed).toBe(true);
    await expect(reply.arrayBuffer()).rejects.toMatchObject({ name: "AbortError" });
  });
});
