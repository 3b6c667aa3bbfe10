// Nightly: two dozen hosts, each on packages from a registry; published-hosts.long.test.ts has the three most used.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProcess } from "../support/start-process.ts";
import { expectDocumented } from "./host-table.ts";
import { PLAIN_HOSTS } from "./plain-hosts.ts";
import { commandOf, servesTheFlow } from "./published-hosts.ts";

const { project, outcomes } = servesTheFlow(PLAIN_HOSTS);

test.each(["bun", "deno"] as const)(
  "under %s a renderer refuses a PATH without Node, naming the cure, and runs the Node of its option",
  async (runtime) => {
    await writeFile(
      join(project().directory, "render.js"),
      `import { createRenderer } from "@outrigger/imaging";
      try { createRenderer(); } catch (error) { console.log(error.message); }
      const renderer = createRenderer({ node: process.argv[2], workers: 1 });
      const source = { bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') };
      await renderer.render(source, "image/svg+xml", { format: "png" });
      await renderer.close();
      console.log("rendered");`,
    );
    const options = {
      cwd: project().directory,
      env: { PATH: project().directory },
      announcement: /rendered/,
    };
    const started = await startProcess(["render.js", process.execPath], {
      ...{ ...options, program: commandOf(runtime, project().directory) },
    });
    expect(await started.exit).toBe(0);
    expect(started.output()).toBe(
      `createRenderer: render processes need Node, but under ${runtime === "bun" ? "Bun" : "Deno"} the PATH has none. Install Node 20.19 or newer, or set node: "/path/to/node"\nrendered\n`,
    );
  },
);

test("docs/mounting.md has the outcome of each host", () => {
  expect(outcomes).toHaveLength(PLAIN_HOSTS.length);
  expectDocumented(outcomes);
});
