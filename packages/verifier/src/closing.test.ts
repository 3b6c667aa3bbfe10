import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createMailWorld } from "../test/mail-world.ts";

const PROGRAM = fileURLToPath(new URL("../test/close-and-end.mjs", import.meta.url));

test("a closed prober keeps no socket, DNS query or timer, so its process ends", async () => {
  const world = await createMailWorld();
  try {
    const server = await world.mailServer();
    const silent = await world.hostileServer(() => {}, "127.0.0.2");
    world.route("one.test", server.host);
    world.route("silent.test", silent.host);
    world.dns.zone["lost.test"] = { drops: true };
    const asked = ["tarpit@one.test", "alice@one.test", "alice@silent.test", "alice@lost.test"];
    const child = spawn(process.execPath, [PROGRAM, world.dns.address, String(server.port), ...asked], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const printed = text(child.stdout);
    await expect.poll(() => server.commands.at(-1)).toMatch(/^RCPT TO:<tarpit@/);
    await expect.poll(() => silent.openConnections()).toBe(1);
    await expect.poll(() => world.dns.questions).toContain("MX lost.test");
    child.stdin.write("close\n");
    // A process that does not end is killed by the time limit of the test.
    expect(await ended).toEqual([0, null]);
    expect((await printed).trim().split("\n")).toEqual(asked.map((address) => `${address} timeout`));
  } finally {
    await world.close();
  }
});
