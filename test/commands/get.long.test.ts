import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { photoForAll, printed } from "./printed-images.ts";
import { serveForAll, start } from "./served.ts";

const site = serveForAll();
const { run } = site;
const photo = photoForAll(site);

describe("the command get", () => {
  it("get accepts any address of an image, and writes the requested format and size", async () => {
    const { id, url, editUrl, size } = await photo.uploaded("--name", "../../my/picture");
    const picture = `${site.url()}/api/images/${id}`;
    const file = id.replace(/^-/, "_");
    const runs = await Promise.all([
      run(["get", url]),
      run(["get", editUrl, "--as", "jpeg", "--resize", "20x"]),
      run(["get", `${picture}.webp?resize=x12`, "--output", "small.webp"]),
      run(["get", `${picture}.png?resize=24x24&fit=cover`, "--output", "cut.png"]),
      run(["get", "--as", "gif", "--to", site.url(), "--", id]),
    ]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
    expect(runs.map(({ stdout }) => stdout.split("  ").slice(0, 2))).toEqual([
      [`${file}.png`, "image/png"],
      [`${file}.jpg`, "image/jpeg"],
      ["small.webp", "image/webp"],
      ["cut.png", "image/png"],
      [`${file}.gif`, "image/gif"],
    ]);
    expect(await readFile(join(site.cwd(), `${file}.png`))).toHaveLength(size);
    const shapeOf = async (name: string) => {
      const { format, width, height } = await sharp(join(site.cwd(), name)).metadata();
      return { format, width, height };
    };
    expect(await shapeOf(`${file}.jpg`)).toMatchObject({ format: "jpeg", width: 20 });
    expect(await shapeOf("small.webp")).toMatchObject({ format: "webp", height: 12 });
    expect(await shapeOf("cut.png")).toEqual({ format: "png", width: 24, height: 24 });
  });

  it("get passes the parameters of an address on, and --resize and --as replace theirs", async () => {
    const asked: string[] = [];
    const base = await site.instead((request, response) => {
      asked.push((request.url ?? "").replace(/^.*\./, ""));
      response.setHeader("Content-Type", "image/png").end(photo.png());
    });
    const address = `${base}/api/images/${"A".repeat(22)}.png`;
    const signed = `${address}?resize=20x&until=99&s=signature`;
    for (const args of [[signed], [`${address}?preset=thumb`], [`${address}?resize=20x`, "--resize", "30x"]])
      expect(await run(["get", ...args, "--output", "-"])).toMatchObject({ code: 0 });
    expect(asked).toEqual(["png?resize=20x&until=99&s=signature", "png?preset=thumb", "png?resize=30x"]);
  });

  it("get replaces a file only with --force, and prints bytes with --output - and the record with --json", async () => {
    const { id, url, pin } = await photo.uploaded();
    const name = `${id.replace(/^-/, "_")}.png`;
    await writeFile(join(site.cwd(), name), "mine");
    const [refused, streamed, record, late] = await Promise.all([
      run(["get", url]),
      run(["get", url, "--as", "svg", "--output", "-"]),
      run(["get", url, "--json"]),
      run(["get", `${site.url()}/api/images/${id}.png?page=2`, "--output", "page.png"]),
    ]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`${name} cannot be written: it already exists; --force`),
    ]);
    expect(await readFile(join(site.cwd(), name), "utf8")).toBe("mine");
    expect([streamed.code, streamed.stderr]).toEqual([0, ""]);
    expect(streamed.stdout).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
    expect(printed(record.stdout)[0]).toMatchObject({ id, name: "photo.png", type: "image/png" });
    expect(record.stdout).not.toContain(pin);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("page must be at most 1")]);
    expect((await run(["get", url, "--force"])).code).toBe(0);
    expect((await sharp(join(site.cwd(), name)).metadata()).width).toBe(64);
    expect((await readdir(site.cwd())).sort()).toEqual([name, "photo.png", "state", "tmp"].sort());
  });

  it("get leaves no partial file after a broken connection or SIGINT", async () => {
    const address = (url: string) => `${url}/api/images/${"A".repeat(22)}.png`;
    const begin = { "Content-Type": "image/png", "Content-Length": "1000000" };
    const broken = await site.instead((_, response) => {
      response.writeHead(200, begin).write(photo.png(), () => response.destroy());
    });
    const { code, stdout, stderr } = await run(["get", address(broken), "--output", "a.png"]);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("failed: ")]);
    const stalled = await site.instead((_, response) => {
      response.writeHead(200, begin).write(photo.png());
    });
    const { child, ended } = start(["get", address(stalled), "--output", "b.png"], { cwd: site.cwd() });
    // The partial file shows that the command is writing.
    await expect.poll(() => readdir(site.cwd())).toContainEqual(expect.stringMatching(/^b\.png\.\w+\.part$/));
    // npx forwards the signal that the terminal already sent to both processes.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "outrigger: Stopped\n" });
    expect(await readdir(site.cwd())).toEqual(["photo.png", "tmp"]);
  });
});
