import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SECRET, startReceiver, webhooksTo } from "../../../../core/test/event-site.ts";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

it("serve and its commands send the webhooks of the configuration, and log no secret", async () => {
  const cwd = await temporaryDirectory();
  const receiver = await startReceiver();
  const config = { log: { level: "trace" }, images: { webhooks: webhooksTo(receiver) } };
  await writeFile(join(cwd, "outrigger.config.json"), JSON.stringify(config));
  const server = serve(cwd);
  const { id, pin } = await uploaded(await server.url, await jpeg());
  const withhold = outrigger(["images", "withhold", id, "--reason", "By order of the court."], { cwd });
  expect(await withhold.exit).toBe(0);
  expect(await outrigger(["images", "rm", "--yes", id], { cwd }).exit).toBe(0);
  const all = [`image.stored ${id}`, `image.withheld ${id}`, `image.removed ${id}`];
  await expect.poll(() => receiver.told()).toEqual(all);
  expect(receiver.events.map(({ text }) => text).join()).not.toContain(pin);
  receiver.answer = (response) => response.writeHead(500).end();
  await uploaded(await server.url, await jpeg());
  await server.logged("webhook failed");
  server.child.kill("SIGTERM");
  await server.exit;
  expect(server.output.stderr + server.output.stdout).not.toContain(SECRET.slice("whsec_".length));
});
