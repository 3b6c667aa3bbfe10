import { unlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { spooledUpload } from "./uploaded-file.ts";

/** An upload to a store that answers without reading the bytes. */
async function unreadUpload(answer: () => Promise<{ size: number; revision: string }>) {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-uploaded-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "upload");
  await writeFile(path, "a picture");
  const bodies: Readable[] = [];
  const store = createMemoryBlobStore();
  store.put = (_key, body) => {
    if (body instanceof Readable) bodies.push(body);
    return answer();
  };
  const facts = { size: 9, declaredType: "image/png", name: "", head: Buffer.of(), sha256: "" };
  const upload = spooledUpload(store, { path, ...facts, dispose: async () => unlinkSync(path) });
  // No listener of the test: an error without one would end the process.
  const isClosed = () => bodies.map((body) => body.closed);
  return { upload, isClosed };
}

const refuse = () => Promise.reject(new ServiceError("store_unavailable", "No answer."));

test("an upload that a store rejects unread may be disposed of before its file is opened", async () => {
  const { upload, isClosed } = await unreadUpload(refuse);
  const storing = upload.putMoving("a/original", {});
  await upload.dispose();
  await expect(storing).rejects.toMatchObject({ code: "store_unavailable" });
  await expect.poll(isClosed).toEqual([true]);
});

test.each([
  ["rejects", refuse],
  ["resolves", async () => ({ size: 0, revision: "1" })],
])("the file of an upload is closed after a store %s without reading it", async (_how, answer) => {
  const { upload, isClosed } = await unreadUpload(answer);
  await upload.putCopying("a/upload", {}).catch(() => undefined);
  await expect.poll(isClosed).toEqual([true]);
});
