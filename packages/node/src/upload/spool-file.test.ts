import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundleSource } from "../../../../test/support/bundle-source.ts";
import { SpoolFile } from "./spool-file.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-spool-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const PART = { name: "a.png", declaredType: "image/png" };

describe("SpoolFile", () => {
  it("writes and measures chunks of every size", async () => {
    const data = Buffer.alloc(3 * 1024 * 1024 + 5, "0123456789abcdef!");
    for (const chunkSize of [1000, 65536, 1024 * 1024, data.length]) {
      const spool = new SpoolFile(directory);
      await pipeline(cut(data, chunkSize), spool);
      expect(data.equals(await readFile(spool.path))).toBe(true);
      const { size, head, sha256 } = spool.toSpooledFile(PART);
      expect(size).toBe(data.length);
      expect(head.equals(data.subarray(0, 65536))).toBe(true);
      expect(sha256).toBe(createHash("sha256").update(data).digest("hex"));
      expect((await stat(spool.path)).mode & 0o777).toBe(0o600);
      await spool.discard();
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it("never mixes the bytes of concurrent files, even if some are discarded", async () => {
    const files = [...Array(20).keys()].map((index) => {
      const spool = new SpoolFile(directory);
      const data = Buffer.alloc(2_500_000, `file ${index}, `);
      const written = pipeline(cut(data, 40_000 + index), spool);
      return { index, spool, data, written };
    });
    await Promise.all(
      files.map(async ({ index, spool, data, written }) => {
        if (index % 3 === 0) {
          const failed = expect(written).rejects.toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
          await spool.discard();
          await failed;
          return;
        }
        await written;
        expect(data.equals(await readFile(spool.path)), spool.path).toBe(true);
        await spool.discard();
      }),
    );
    expect(await readdir(directory)).toEqual([]);
  });

  it("leaves no file when it is discarded, at any time", async () => {
    const unopened = new SpoolFile(directory);
    await unopened.discard();
    const written = new SpoolFile(directory);
    written.write(Buffer.alloc(5 * 1024 * 1024));
    await written.discard();
    const ended = new SpoolFile(directory);
    ended.end(Buffer.alloc(10));
    await ended.discard();
    const finished = new SpoolFile(directory);
    finished.end(Buffer.alloc(10));
    await once(finished, "close");
    await finished.discard();
    await finished.discard();
    expect(await readdir(directory)).toEqual([]);
  });

  it("fails with store_unavailable and the system's error if the directory is missing", async () => {
    const spool = new SpoolFile(join(directory, "missing"));
    await expect(pipeline(cut(Buffer.alloc(10), 10), spool)).rejects.toMatchObject({
      code: "store_unavailable",
      cause: { code: "ENOENT" },
    });
    await spool.discard();
  });

  it("fails with no_space if the system rejects a write, and leaves no file", async () => {
    // The file size limit of a process simulates a full disk without privileges.
    const module = bundleSource(new URL("spool-file.ts", import.meta.url), directory);
    const script = `
      import { SpoolFile } from ${JSON.stringify(module)};
      const spool = new SpoolFile(process.argv[1]);
      spool.on("error", async (error) => {
        await spool.discard();
        console.log(error.code, error.cause.code);
      });
      spool.end(Buffer.alloc(3 * 1024 * 1024));
    `;
    const child = spawn("sh", [
      "-c",
      'ulimit -f 1024; exec "$0" --input-type=module -e "$1" "$2"',
      process.execPath,
      script,
      directory,
    ]);
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    await once(child, "close");
    expect(output).toBe("no_space EFBIG\n");
    expect(await readdir(directory)).toEqual([basename(module)]);
  });
});

function cut(bytes: Buffer, size: number): Readable {
  return Readable.from(
    (function* () {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    })(),
  );
}
