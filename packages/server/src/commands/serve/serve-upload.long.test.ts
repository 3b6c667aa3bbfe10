import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jpeg, serve, temporaryDirectory, uploaded } from "../../../test/outrigger-process.ts";

describe("outrigger serve", () => {
  it("prints one line with its address on standard output, and JSON on standard error", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    await server.logged("Upload pictures at ");
    server.child.kill("SIGTERM");
    expect(await server.exit).toBe(0);
    expect(server.output.stdout).toBe(`Outrigger listens on ${url}\n`);
    const lines = server.output.stderr.trimEnd().split("\n");
    const messages = lines.map((line): string => JSON.parse(line).msg);
    // The sandbox depends on the machine.
    const others = messages.filter((each) => !/^(?:Render processes|This process runs as root)/.test(each));
    expect(others).toEqual([
      "new data directory",
      "listening",
      `Upload pictures at ${url} in a browser, or: curl -F imagedata=@picture.jpg ${url}/api/images.json`,
      "ending",
      "draining",
      "closed",
    ]);
  });

  it("stores a picture, serves and converts it, and deletes it with its PIN", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    const picture = await jpeg();
    const image = await uploaded(url, picture);
    expect(image.url).toBe(`${url}/${image.id}`);
    const original = await fetch(`${url}/api/images/${image.id}.jpg`);
    expect(original.headers.get("x-powered-by")).toBeNull();
    expect(original.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(Buffer.from(await original.arrayBuffer()).equals(picture)).toBe(true);
    const png = await fetch(`${url}/api/images/${image.id}.png?resize=32x`);
    expect(png.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await png.arrayBuffer()).subarray(16, 24)).toEqual(
      Buffer.from([0, 0, 0, 32, 0, 0, 0, 24]),
    );
    const page = await fetch(image.url, { headers: { Accept: "text/html" } });
    expect(await page.text()).toContain("stripes.jpg");
    const removed = await fetch(`${url}/api/images/${image.id}.json?pin=${image.pin}`, { method: "DELETE" });
    expect(removed.status).toBe(204);
    expect((await fetch(image.url)).status).toBe(410);
  });
});

it("the package ships the command named in its bin field", async () => {
  const { bin } = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8"));
  const { mode } = await stat(new URL(join("../../..", bin.outrigger), import.meta.url));
  expect(mode & 0o111).toBe(0o111);
});

describe("logs of outrigger serve", () => {
  it("do not block the server after their reader has ended", async () => {
    const server = serve(await temporaryDirectory());
    const url = await server.url;
    server.child.stderr?.destroy();
    server.child.stdout?.destroy();
    for (let index = 0; index < 20; index++) expect((await fetch(`${url}/nothing`)).status).toBe(404);
    const ended = once(server.child, "exit");
    server.child.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
  });
});
