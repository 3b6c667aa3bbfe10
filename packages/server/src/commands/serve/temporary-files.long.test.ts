import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory } from "../../../test/outrigger-process.ts";

const HEAD = `--x\r\nContent-Disposition: form-data; name="imagedata"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;

/** Sends an unfinished upload. */
function beginUpload(url: string, bytes: Buffer): ClientRequest {
  const upload = request(`${url}/api/images.json`, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=x", "user-agent": "test/1.0" },
    agent: false,
  });
  upload.on("error", () => {});
  upload.write(HEAD);
  upload.write(bytes);
  return upload;
}

async function filesIn(directory: string): Promise<string[]> {
  const found = await readdir(directory, { recursive: true });
  return found.filter((name) => name.endsWith(".part"));
}

it("the next start deletes temporary files of a killed server, and keeps those of a running server", async () => {
  const cwd = await temporaryDirectory();
  const TMPDIR = join(cwd, "tmp");
  await mkdir(TMPDIR);
  const env = {
    TMPDIR,
    OUTRIGGER_STORAGE: "memory:",
    OUTRIGGER_SECRET: "0123456789abcdef".repeat(4),
  };
  const [killed, living] = [serve(cwd, [], env), serve(cwd, [], env)];
  const bytes = await jpeg();
  beginUpload(await killed.url, bytes);
  const upload = beginUpload(await living.url, bytes);
  while ((await filesIn(TMPDIR)).length < 2) await delay(20);
  killed.child.kill("SIGKILL");
  await killed.exit;
  expect(await filesIn(TMPDIR)).toHaveLength(2);

  await serve(cwd, [], env).url;
  const [left = "", ...others] = await readdir(TMPDIR);
  expect(others).toEqual([]);
  expect(left).toContain(`.${living.child.pid}.`);
  const answered = once(upload, "response");
  upload.end("\r\n--x--\r\n");
  const [response] = (await answered) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  response.resume();

  living.child.kill("SIGTERM");
  expect(await living.exit).toBe(0);
  expect(await readdir(TMPDIR)).toEqual([]);
});
