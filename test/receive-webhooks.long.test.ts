import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SECRET } from "../packages/core/test/event-site.ts";
import { created } from "../packages/core/test/image-site.ts";
import { createLifeSite } from "../packages/core/test/life-site.ts";
import { freePort } from "./support/listen.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

test("the receiver in docs/recipes.md verifies the events of a service, and refuses a forged one", async () => {
  const page = await readFile(`${root}docs/recipes.md`, "utf8");
  const [, code = ""] = /## Receive webhooks\n.*?```js\n(.*?)```/s.exec(page) ?? [];
  const port = await freePort();
  const env = { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) };
  const child = spawn(process.execPath, ["--input-type=module", "-"], { cwd: root, env });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  child.stdin.end(code);
  const url = `http://127.0.0.1:${port}/hooks/images`;
  try {
    const forged = async () => {
      const headers = {
        "content-type": "application/json",
        "webhook-id": "evt_1",
        "webhook-signature": "v1,AAAA",
      };
      return (await fetch(url, { method: "POST", headers, body: "{}" }).catch(() => null))?.status;
    };
    await expect.poll(forged).toBe(400);
    const endpoints = [{ url, secret: SECRET }];
    const site = createLifeSite({ webhooks: { endpoints, internalHosts: [`127.0.0.1:${port}`] } });
    const { id } = created(await site.create());
    await site.images.remove(id);
    await expect.poll(() => lines).toEqual([`image.stored ${id}`, `image.removed ${id}`]);
  } finally {
    child.kill();
    await once(child, "exit");
  }
});
