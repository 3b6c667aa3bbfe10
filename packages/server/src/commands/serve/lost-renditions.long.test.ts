import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

// Each test starts several servers and commands.
const PARTS = { records: "ok", originals: "ok", renditions: "ok", renderer: "ok" };

function place(cwd: string, renditions: string) {
  const storage = { records: "file:./data", originals: "file:./data", renditions };
  const env = { OUTRIGGER_STORAGE: JSON.stringify(storage) };
  let width = 10;
  return {
    start: () => serve(cwd, [], env),
    run: (...args: string[]) => outrigger(args, { cwd, env }).exit,
    /** The status of a rendition that no request has asked for. */
    async render(url: string, id: string): Promise<number> {
      return (await fetch(`${url}/api/images/${id}.png?resize=${++width}x9`)).status;
    },
  };
}

async function readyz(url: string): Promise<[status: number, checks: object]> {
  const reply = await fetch(`${url}/readyz`);
  return [reply.status, ((await reply.json()) as { checks: object }).checks];
}

/** A server or command may write there meanwhile. */
const removed = (directory: string) => rm(directory, { recursive: true, force: true, maxRetries: 10 });

it("lost, empty and foreign directories of renditions cost neither conversions nor readiness, a start or a takedown", async () => {
  const cwd = await temporaryDirectory();
  const { start, run, render } = place(cwd, "file:./n");
  const n = join(cwd, "n");
  // Another service's renditions.
  const elsewhere = await temporaryDirectory();
  const other = place(elsewhere, "file:./n");
  const first = start();
  const url = await first.url;
  const { id, pin } = await uploaded(url, await jpeg());
  expect(await render(url, id)).toBe(200);
  await removed(n);
  for (let count = 0; count < 3; count++) expect(await render(url, id)).toBe(200);
  await expect.poll(() => readyz(url)).toEqual([200, PARTS]);
  await rename(n, `${n}.own`);
  await mkdir(n);
  for (let count = 0; count < 3; count++) expect(await render(url, id)).toBe(200);
  await expect.poll(() => readyz(url)).toEqual([200, PARTS]);

  const stranger = other.start();
  await stranger.url;
  stranger.child.kill("SIGTERM");
  await stranger.exit;
  await removed(n);
  await rename(join(elsewhere, "n"), n);
  const failing = { ...PARTS, renditions: "failing" };
  await expect.poll(() => readyz(url)).toEqual([200, failing]);
  for (let count = 0; count < 3; count++) expect(await render(url, id)).toBe(200);
  const second = await uploaded(url, await jpeg());
  first.child.kill("SIGTERM");
  await first.exit;

  await removed(n);
  expect(await run("images", "withhold", second.id, "--reason", "Case 4711")).toBe(0);
  await removed(n);
  await writeFile(n, "");
  const again = start();
  const next = await again.url;
  expect(await render(next, id)).toBe(200);
  expect(await readyz(next)).toEqual([200, failing]);
  expect(again.output.stderr + again.output.stdout).toContain("Images are served without it");
  await rm(n);
  await expect.poll(async () => [await render(next, id), await readyz(next)]).toEqual([200, [200, PARTS]]);
  const deleted = await fetch(`${next}/api/images/${id}.json?pin=${pin}`, { method: "DELETE" });
  expect(deleted.status).toBe(204);
  again.child.kill("SIGTERM");
  await again.exit;
});
