import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { PATIENT, photoForAll, printed } from "./printed-images.ts";
import { serveForAll, start } from "./served.ts";

const site = serveForAll();
const { run } = site;
const photo = photoForAll(site);

describe("the command get", PATIENT, () => {
  it("get accepts any address of an image, and writes the requested format and size", async () => {
    const { id, url, editUrl, size } = await photo.uploaded("--name", "../../my/picture");
    const runs = await Promise.all([
      run(["get", url]),
      run(["get", editUrl, "--as", "jpeg", "--quality", "low", "--resize", "20x"]),
      run(["get", `${site.url()}/api/images/${id}.webp?resize=x12`, "--output", "small.webp"]),
      run(["get", "--as", "gif", "--to", site.url(), "--", id]),
    ]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
    expect(runs.map(({ stdout }) => stdout.split("  ").slice(0, 2))).toEqual([
      ["picture.png", "image/png"],
      ["picture.jpg", "image/jpeg"],
      ["small.webp", "image/webp"],
      ["picture.gif", "image/gif"],
    ]);
    const written = ["photo.png", "picture.gif", "picture.jpg", "picture.png", "small.webp", "tmp"];
    expect((await readdir(site.cwd())).sort()).toEqual(written);
    expect(await readFile(join(site.cwd(), "picture.png"))).toHaveLength(size);
    expect(await sharp(join(site.cwd(), "picture.jpg")).metadata()).toMatchObject({
      format: "jpeg",
      width: 20,
    });
    expect(await sharp(join(site.cwd(), "small.webp")).metadata()).toMatchObject({
      format: "webp",
      height: 12,
    });
  });

  it("get --as auto names the type of the file, or every type that it can store, in Accept", async () => {
    const { id } = await photo.uploaded("--name", "auto");
    const typed = await run(["get", "--as", "auto", "--to", site.url(), "--output", "typed.webp", "--", id]);
    const named = await run(["get", "--as", "auto", "--quality", "auto", "--to", site.url(), "--", id]);
    expect([typed.stderr, named.stderr]).toEqual(["", ""]);
    expect(typed.stdout.split("  ").slice(0, 2)).toEqual(["typed.webp", "image/webp"]);
    expect(named.stdout.split("  ").slice(0, 2)).toEqual(["auto.avif", "image/avif"]);
  });

  it("get --fit cuts to the size of --resize around --at, or extends to it by --background", async () => {
    const { url } = await photo.uploaded();
    const square = ["get", url, "--as", "png", "--resize", "24x24", "--fit"];
    const runs = await Promise.all([
      run([...square, "cover", "--output", "cut.png"]),
      run([...square, "cover", "--at", "0,0.5", "--output", "left.png"]),
      run([...square, "cover", "--at", "attention", "--output", "seen.png"]),
      run([...square, "pad", "--background", "ff8800", "--output", "bars.png"]),
    ]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
    const bytesOf = async (name: string) => {
      const { data, info } = await sharp(join(site.cwd(), name))
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      expect([name, info.width, info.height]).toEqual([name, 24, 24]);
      return data;
    };
    expect((await bytesOf("cut.png")).equals(await bytesOf("left.png"))).toBe(false);
    await bytesOf("seen.png");
    expect([...(await bytesOf("bars.png")).subarray(0, 3)]).toEqual([0xff, 0x88, 0]);
    const refused = await Promise.all([
      run(["get", url, "--fit", "cover"]),
      run([...square, "fill"]),
      run([...square, "cover", "--at", "left"]),
      run([...square, "pad", "--background", "red"]),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([1, 2, 2, 2]);
    expect(refused[0]?.stderr).toContain("fit needs resize=<MaxWidth>x<MaxHeight> with both sides");
  });

  it("get requests a signed or preset address unchanged, and drops signature and preset for other parameters", async () => {
    const asked: string[] = [];
    const base = await site.instead((request, response) => {
      asked.push((request.url ?? "").replace(/^.*\./, ""));
      response.setHeader("Content-Type", "image/png").end(photo.png());
    });
    const address = `${base}/api/images/${"A".repeat(22)}.png`;
    const signed = `${address}?resize=20x&until=99&s=signature`;
    for (const args of [
      [signed],
      [`${address}?preset=thumb`],
      [signed, "--resize", "30x"],
      [signed, "--as", "webp"],
      [`${address}?preset=thumb`, "--page", "1"],
    ]) {
      expect(await run(["get", ...args, "--output", "-"])).toMatchObject({ code: 0 });
    }
    expect(asked).toEqual([
      "png?resize=20x&until=99&s=signature",
      "png?preset=thumb",
      "png?resize=30x",
      "webp?resize=20x",
      "png?page=1",
    ]);
  });

  it("get replaces a file only with --force, and prints bytes with --output - and the record with --json", async () => {
    const { id, url, pin } = await photo.uploaded();
    await writeFile(join(site.cwd(), "photo.png"), "mine");
    const [refused, streamed, record, odd, late, unfit] = await Promise.all([
      run(["get", url]),
      run(["get", url, "--as", "svg", "--output", "-"]),
      run(["get", url, "--json"]),
      run(["get", url, "--quality", "low"]),
      run(["get", url, "--page", "2", "--output", "page.png"]),
      run(["get", url, "--as", "gif", "--quality", "auto"]),
    ]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("photo.png cannot be written: it already exists; --force"),
    ]);
    expect(await readFile(join(site.cwd(), "photo.png"), "utf8")).toBe("mine");
    expect([streamed.code, streamed.stderr]).toEqual([0, ""]);
    expect(streamed.stdout).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
    expect(printed(record.stdout)[0]).toMatchObject({ id, name: "photo.png", type: "image/png" });
    expect(record.stdout).not.toContain(pin);
    expect([odd.code, odd.stderr]).toEqual([
      2,
      expect.stringContaining("--quality low: applies only to jpg, auto; add --as jpg"),
    ]);
    expect([unfit.code, unfit.stderr]).toEqual([
      2,
      expect.stringContaining("--quality auto: applies only to jpg, auto, webp, avif; add --as jpg"),
    ]);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("page must be at most 1")]);
    expect((await run(["get", url, "--force"])).code).toBe(0);
    expect((await sharp(join(site.cwd(), "photo.png")).metadata()).width).toBe(64);
    expect(await readdir(site.cwd())).toEqual(["photo.png", "tmp"]);
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
    await expect
      .poll(() => readdir(site.cwd()), { timeout: 30_000 })
      .toContainEqual(expect.stringMatching(/^b\.png\.\w+\.part$/));
    // npx forwards the signal that the terminal already sent to both processes.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "outrigger: Stopped\n" });
    expect(await readdir(site.cwd())).toEqual(["photo.png", "tmp"]);
  });
});
