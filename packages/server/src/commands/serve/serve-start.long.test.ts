import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../../../test/outrigger-process.ts";

/** Removes the log lines about the new data directory and the sandbox, which precede the attempt to listen. */
function afterFirstLog(stderr: string): string {
  return stderr.replaceAll(
    /^\{.*"msg":"(?:new data directory|Render processes .*|This process .*)"\}\n/gm,
    "",
  );
}

describe("outrigger serve that cannot start", () => {
  it("names a port that is in use in one line and exits with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo; // It listens on TCP.
    const server = outrigger(["serve", "--port", String(port)], { cwd: await temporaryDirectory() });
    expect(await server.exit).toBe(1);
    expect(afterFirstLog(server.output.stderr)).toBe(
      `outrigger: Port ${port} on 127.0.0.1 is already in use. Set another port.\n`,
    );
    expect(server.output.stdout).toBe("");
    other.close();
  });

  it("names an address that is not an address of this machine", async () => {
    const server = serve(await temporaryDirectory(), ["--host", "192.0.2.1"]);
    expect(await server.exit).toBe(1);
    expect(afterFirstLog(server.output.stderr)).toBe(
      "outrigger: 192.0.2.1 is not an address of this machine. Set another host.\n",
    );
  });

  it("names a data directory that is a file or below a file", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "taken"), "");
    for (const data of ["taken", "taken/below"]) {
      const server = serve(cwd, ["--data", data]);
      expect(await server.exit).toBe(1);
      expect(server.output.stderr).toBe(
        `outrigger: The data directory ${join(cwd, data)} cannot be used: it is not a directory\n`,
      );
    }
  });
});
