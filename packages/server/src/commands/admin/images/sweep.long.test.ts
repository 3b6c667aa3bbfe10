import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { expect, it } from "vitest";
import { addRecords, images } from "../../../../test/images-command.ts";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../../../test/outrigger-process.ts";

it("images sweep deletes the bytes of expired images", async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify({ images: { sweepEveryMs: false } }));
  const url = await serve(cwd).url;
  const image = await uploaded(url, await jpeg());
  const [expired = ""] = await addRecords(cwd, [{ expiresAt: Date.now() - 1 }]);
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  await store.put(`${expired}/original`, Buffer.from("bytes"));
  await store.addDue("images", { id: expired, dueMs: Date.now() });
  expect(await images(cwd, "sweep")).toEqual({
    code: 0,
    stdout: "1 checked: 1 emptied, 0 forgotten, 0 failed\n",
    stderr: "",
  });
  expect(await store.stat(`${expired}/original`)).toBeNull();
  expect((await fetch(image.url)).status).toBe(200);
  expect((await fetch(`${url}/${expired}`)).status).toBe(410);
  await store.close();
});

it("images sweep exits with 1 and names an image whose record is damaged", async () => {
  const cwd = await temporaryDirectory();
  const id = "a".repeat(22);
  const store = createFsBlobStore({ directory: join(cwd, "data") });
  await store.put(`${id}/record`, Buffer.from("not a record"));
  await store.addDue("images", { id, dueMs: Date.now() });
  await store.close();
  const damaged = `outrigger: The record of image ${id} (key "${id}/record") is damaged: it is not JSON\n`;
  const { code, stdout, stderr } = await images(cwd, "sweep");
  expect(code).toBe(1);
  expect(stdout).toBe("1 checked: 0 emptied, 0 forgotten, 1 failed\n");
  expect(stderr).toBe(damaged);
});
