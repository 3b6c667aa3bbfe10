import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { BlobStore } from "@outrigger/core/stores";
import { describe, expect, test } from "vitest";
import { useRedis, withStore } from "../../test/redis-stores.ts";
import { PIECE_BYTES, WHOLE_BYTES } from "./blob-space.ts";

const MIB = 2 ** 20;

const redis = useRedis();

describe("pieces of blobs in Redis", () => {
  test("are joined correctly for every length and range around their edges", async () => {
    const pieceBytes = PIECE_BYTES;
    await withStore(redis.cluster.urls, async (store) => {
      for (const size of [
        WHOLE_BYTES - 1,
        WHOLE_BYTES,
        WHOLE_BYTES + 1,
        10 * pieceBytes,
        10 * pieceBytes + 1,
      ]) {
        const bytes = randomBytes(size);
        await store.put("a/b", Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]));
        expect((await read(store, "a/b")).equals(bytes)).toBe(true);
        for (const start of [0, pieceBytes - 1, pieceBytes, size - 1]) {
          for (const end of [pieceBytes, size - 1, start + 8 * pieceBytes]) {
            if (start >= size || end < start) continue;
            const part = await read(store, "a/b", { start, end });
            expect(part.equals(bytes.subarray(start, end + 1)), `${size}: ${start}-${end}`).toBe(true);
          }
        }
      }
    });
  });

  test("of a failed put are deleted, and all have a time to live until the blob is committed", async () => {
    await withStore(redis.server.url, async (store, prefix) => {
      const failing = Readable.from(
        (async function* () {
          yield randomBytes(2 * MIB);
          throw new Error("gone");
        })(),
      );
      await expect(store.put("a/b", failing)).rejects.toThrow("gone");
      await expect.poll(() => names(prefix)).toEqual([]);

      // After a crash no process would delete these pieces.
      let timesLeft: number[] = [];
      const held = Readable.from(
        (async function* () {
          yield randomBytes(2 * MIB);
          await expect.poll(() => names(prefix)).toHaveLength(4);
          const answers = (await names(prefix)).map((name) => redis.server.cli("PTTL", name));
          timesLeft = (await Promise.all(answers)).map(Number);
          yield randomBytes(2 * MIB);
        })(),
      );
      await store.put("a/b", held);
      expect(timesLeft).toHaveLength(4);
      expect(timesLeft.every((ms) => ms > 0 && ms <= 3_600_000)).toBe(true);
    });
  });

  test("have no time to live while their blob exists, and get one when it is replaced or deleted", async () => {
    await withStore(
      redis.server.url,
      async (store, prefix) => {
        const piecesOf = async () => (await names(prefix)).filter((name) => name.includes("}:p:"));
        const timesLeft = async (pieces: string[]) =>
          (await Promise.all(pieces.map((name) => redis.server.cli("PTTL", name)))).map(Number);
        await store.put("a/b", randomBytes(MIB + 1));
        const first = await piecesOf();
        expect(first).toHaveLength(3);
        expect(await timesLeft(first)).toEqual([-1, -1, -1]);
        await store.put("a/b", randomBytes(MIB));
        expect(await piecesOf()).toHaveLength(4);
        const left = await timesLeft(first);
        expect(left.every((ms) => ms > 20_000 && ms <= 30_000)).toBe(true);
        await store.delete("a/b");
        expect((await timesLeft(await piecesOf())).every((ms) => ms > 0 && ms <= 30_000)).toBe(true);
      },
      { supersededMs: 30_000 },
    );
  });

  test("that expired end a slow read with an error, never with other bytes", async () => {
    await withStore(
      redis.server.url,
      async (store, prefix) => {
        const old = randomBytes(6 * MIB);
        await store.put("a/b", old);
        const blob = await store.get("a/b");
        await store.put("a/b", Buffer.alloc(6 * MIB, 1));
        // Twelve pieces of the new blob, its head and the index: those of the old blob have expired.
        await expect.poll(async () => (await names(prefix)).length).toBe(14);
        assert.ok(blob !== null && blob.body instanceof Readable);
        const seen: Buffer[] = [];
        const reading = (async () => {
          for await (const chunk of blob.body) seen.push(chunk);
        })();
        await expect(reading).rejects.toMatchObject({ code: "store_unavailable" });
        expect(old.subarray(0, Buffer.concat(seen).length).equals(Buffer.concat(seen))).toBe(true);
      },
      { supersededMs: 1000 },
    );
  });

  test("of a 40 MiB blob stream with less than 16 MiB of memory", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    await withStore(redis.server.url, async (store) => {
      const before = held();
      let peak = 0;
      async function* source(): AsyncGenerator<Buffer> {
        for (let turn = 0; turn < 640; turn++) {
          yield Buffer.alloc(65_536, turn);
          if (turn % 40 === 39) peak = Math.max(peak, held() - before);
        }
      }
      await store.put("a/b", Readable.from(source()));
      let size = 0;
      const blob = await store.get("a/b");
      for await (const chunk of blob?.body ?? []) {
        size += chunk.length;
        if (size % (4 * MIB) === 0) peak = Math.max(peak, held() - before);
      }
      expect(size).toBe(40 * MIB);
      // Memory freed a moment ago may still be counted.
      expect(peak).toBeLessThan(16 * MIB);
    });
  });
});

async function read(store: BlobStore, key: string, range?: { start: number; end: number }): Promise<Buffer> {
  const blob = await store.get(key, range === undefined ? {} : { range });
  assert.ok(blob !== null);
  if (Buffer.isBuffer(blob.body)) return blob.body;
  return Buffer.concat(await blob.body.toArray());
}

/** The Redis keys with a prefix on the server. */
async function names(prefix: string): Promise<string[]> {
  return (await redis.server.cli("--scan", "--pattern", `${prefix}:*`))
    .split("\n")
    .filter((name) => name !== "");
}
