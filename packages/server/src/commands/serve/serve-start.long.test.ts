import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serve, temporaryDirectory } from "../../../test/outrigger-process.ts";

/** Removes the log lines about the new data directory and the sandbox, which precede the attempt to listen. */
function afterFirstLog(stderr: string): string {
  return stderr.replaceAll(
    /^\{.*"msg":"(?:new data directory|Render processes .*|This process .*)"\}\n/gm,
    "",
  );
}

describe("outrigger serve that cannot start", () => {
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
