import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { serveForAll, start } from "./commands/served.ts";
import { freePort } from "./support/free-port.ts";
import { pngPhoto, svgDrawing } from "./support/pictures.ts";

/** What the commands print of an image as JSON, as far as these tests look at it. */
interface Printed {
  file: string;
  id: string;
  name: string;
  type: string;
  size: number;
  status: string;
  agent: { name: string; version: string };
  expiresAt: string;
  url: string;
  editUrl: string;
  pin: string;
}

const DAY_MS = 86_400_000;
/** Each of its tests starts several processes, on machines that may be busy. */
const PATIENT = { timeout: 90_000 };
const site = serveForAll();
const { run } = site;
let png: Buffer;
beforeAll(async () => {
  png = await pngPhoto(64, 48);
});
beforeEach(() => writeFile(join(site.cwd(), "photo.png"), png));

/** What a command printed as one JSON object per line. Its shape is what the tests look at. */
function printed(stdout: string): Printed[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Printed);
}

async function uploaded(...args: string[]): Promise<Printed> {
  const { stdout, stderr } = await run(["upload", "photo.png", "--json", ...args]);
  const [image] = printed(stdout);
  if (image === undefined) throw new Error(stderr);
  return image;
}

describe("outrigger upload", PATIENT, () => {
  it("prints where the image is, when it ends, and how to edit it", async () => {
    const { code, stdout, stderr } = await run(["upload", "photo.png", "--expires", "7d"]);
    expect([code, stderr]).toEqual([0, ""]);
    const [facts, page, image, edit, expires, ...rest] = stdout.split("\n");
    expect(facts).toMatch(/^photo\.png {2}image\/png {2}64 × 48 {2}[\d.]+ kB$/);
    const url = /^Image {4}(\S+)$/.exec(image ?? "")?.[1] ?? "";
    expect(url.startsWith(`${site.url()}/`)).toBe(true);
    expect(page).toBe(`Page     ${url}/view`);
    expect(edit).toMatch(/^Edit {5}\S+\/edit\?pin=[0-9A-Z]{16}$/);
    const day = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
    expect(expires).toContain(`Expires  ${day}`);
    expect(rest).toEqual([""]);
    expect((await fetch(url)).headers.get("Content-Type")).toBe("image/png");
    expect(await (await fetch(`${url}/view`)).text()).toMatch(/outrigger/i);
  });

  it("sends several files by their content, and leaves out what cannot be sent, whatever it is called", async () => {
    await writeFile(join(site.cwd(), "drawing.txt"), svgDrawing);
    await writeFile(join(site.cwd(), "words.png"), "words");
    await writeFile(join(site.cwd(), "new.png"), await sharp(png).webp().toBuffer());
    await writeFile(join(site.cwd(), "broken.png"), png.subarray(0, 200));
    await writeFile(join(site.cwd(), "empty.png"), "");
    await mkdir(join(site.cwd(), "pictures"));
    const names = ["words.png", "drawing.txt", "broken.png", "new.png", "pictures", "none.png", "empty.png"];
    const { code, stdout, stderr } = await run(["upload", "--json", ...names, "photo.png"]);
    expect(code).toBe(1);
    const images = printed(stdout);
    expect(images.map(({ file, name, type }) => [file, name, type])).toEqual([
      ["drawing.txt", "drawing.txt", "image/svg+xml"],
      ["photo.png", "photo.png", "image/png"],
    ]);
    expect(images[1]).toMatchObject({ status: "ready", agent: { name: "outrigger" } });
    const said = stderr.trimEnd().split("\n");
    expect(said).toHaveLength(6);
    const none = "its content is not one of PNG, JPEG, GIF, SVG, PSD, PDF";
    for (const [name, why] of [
      ["words.png", none],
      ["new.png", none],
      ["pictures", "it is a directory"],
      ["none.png", "ENOENT"],
      ["empty.png", "it is empty"],
      // Only the service sees that.
      ["broken.png", ""],
    ] as const) {
      expect(said.find((line) => line.startsWith(`outrigger: ${name}: `))).toContain(why);
    }
  });

  it("takes the standard input, and gives it a name where it has none", async () => {
    const [named, nameless, text, empty, later] = await Promise.all([
      run(["upload", "-", "--json", "--name", "Screen"], {}, png),
      run(["upload", "--json", "-"], {}, svgDrawing),
      run(["upload", "-"], {}, Buffer.alloc(1_000_000, "text ")),
      run(["upload", "-"]),
      run(["upload", "photo.png", "--json", "--no-wait"]),
    ]);
    expect(printed(named.stdout)[0]).toMatchObject({ file: "-", name: "Screen", type: "image/png" });
    expect(printed(nameless.stdout)[0]).toMatchObject({ name: "image.svg", type: "image/svg+xml" });
    expect([text.code, text.stderr]).toEqual([
      1,
      expect.stringContaining("-: cannot be uploaded: its content"),
    ]);
    expect([empty.code, empty.stderr]).toEqual([1, "outrigger: -: cannot be uploaded: it is empty\n"]);
    expect(printed(later.stdout)[0]).toMatchObject({ status: "processing", pin: expect.any(String) });
    // Nothing of what was kept meanwhile.
    expect(await readdir(join(site.cwd(), "tmp"))).toEqual([]);
  });

  it("says why a service refuses, and where none is", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}/img`;
    const small = await site.instead((request, response) => {
      request.resume().on("end", () => {
        const detail = "The file is over the limit of 1000 bytes";
        response.writeHead(413, { "Content-Type": "application/problem+json" });
        response.end(JSON.stringify({ title: "Content Too Large", status: 413, detail }));
      });
    });
    const other = await site.instead((_, response) => response.end("<html>Hello</html>"));
    const [dead, limited, foreign, wrong, distant] = await Promise.all([
      run(["upload", "photo.png", "photo.png", "photo.png", "--to", nowhere]),
      run(["upload", "photo.png", "photo.png", "--to", small]),
      run(["upload", "photo.png", "--to", other]),
      run(["upload", "photo.png", "--to", `${site.url()}/img`]),
      run(["upload", "photo.png", "--expires", "9999w"]),
    ]);
    expect([dead.code, dead.stdout, dead.stderr]).toEqual([
      1,
      "",
      `outrigger: photo.png: No service responds at ${nowhere}; start one with outrigger serve, or set another with --to or OUTRIGGER_URL\n` +
        "outrigger: 2 more were not tried\n",
    ]);
    const tooLarge = "outrigger: photo.png: The file is over the limit of 1000 bytes\n";
    expect([limited.code, limited.stderr]).toEqual([1, tooLarge + tooLarge]);
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      expect.stringContaining(`at ${other} is not Outrigger`),
    ]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`(${site.url()}/img)\n`)]);
    expect([distant.code, distant.stderr]).toEqual([1, expect.stringContaining("365 days")]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends at %s", async (signal) => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    // It takes all, and never answers.
    const url = await site.instead((request) => request.resume().on("end", arrived));
    const { child, ended } = start(["upload", "photo.png", "photo.png", "--to", url], { cwd: site.cwd() });
    await arrival;
    child.kill(signal);
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "outrigger: Stopped\n" });
  });
});

describe("outrigger get", PATIENT, () => {
  it("writes the picture that any of its addresses names, in the format and size asked for", async () => {
    const { id, url, editUrl, size } = await uploaded("--name", "../../my/picture");
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

  it("asks for a signed address and a preset as they are, and for what is changed without them", async () => {
    const asked: string[] = [];
    const base = await site.instead((request, response) => {
      asked.push((request.url ?? "").replace(/^.*\./, ""));
      response.setHeader("Content-Type", "image/png").end(png);
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

  it("replaces no file unless it is told to, and prints bytes or the record where those are wanted", async () => {
    const { id, url, pin } = await uploaded();
    await writeFile(join(site.cwd(), "photo.png"), "mine");
    const [refused, streamed, record, odd, late] = await Promise.all([
      run(["get", url]),
      run(["get", url, "--as", "svg", "--output", "-"]),
      run(["get", url, "--json"]),
      run(["get", url, "--quality", "low"]),
      run(["get", url, "--page", "2", "--output", "page.png"]),
    ]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("photo.png already exists")]);
    expect(await readFile(join(site.cwd(), "photo.png"), "utf8")).toBe("mine");
    expect([streamed.code, streamed.stderr]).toEqual([0, ""]);
    expect(streamed.stdout).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
    expect(printed(record.stdout)[0]).toMatchObject({ id, name: "photo.png", type: "image/png" });
    expect(record.stdout).not.toContain(pin);
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("--quality: applies only to JPEG")]);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("page must be at most 1")]);
    expect((await run(["get", url, "--force"])).code).toBe(0);
    expect((await sharp(join(site.cwd(), "photo.png")).metadata()).width).toBe(64);
    expect(await readdir(site.cwd())).toEqual(["photo.png", "tmp"]);
  });

  it("leaves no part of a file that breaks off, or is not waited for", async () => {
    const address = (url: string) => `${url}/api/images/${"A".repeat(22)}.png`;
    const begin = { "Content-Type": "image/png", "Content-Length": "1000000" };
    const broken = await site.instead((_, response) => {
      response.writeHead(200, begin).write(png, () => response.destroy());
    });
    const { code, stdout, stderr } = await run(["get", address(broken), "--output", "a.png"]);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("failed: ")]);
    const stalled = await site.instead((_, response) => {
      response.writeHead(200, begin).write(png);
    });
    const { child, ended } = start(["get", address(stalled), "--output", "b.png"], { cwd: site.cwd() });
    // It is being written.
    await expect
      .poll(() => readdir(site.cwd()), { timeout: 30_000 })
      .toContainEqual(expect.stringMatching(/^b\.png\.\w+\.part$/));
    // As npx does it: it passes on what the terminal has sent to both.
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "outrigger: Stopped\n" });
    expect(await readdir(site.cwd())).toEqual(["photo.png", "tmp"]);
  });
});

describe("outrigger edit and rm", PATIENT, () => {
  it("take the PIN from the address, the environment or --pin, and never show it", async () => {
    const [{ id, url, pin, editUrl }, other] = await Promise.all([uploaded(), uploaded()]);
    const wrongPin = "0123456789ABCDEF";
    const [named, dated, refused, none, odd] = await Promise.all([
      run(["edit", editUrl, "--name", "sunset\u001b[31m.png"]),
      run(["edit", other.url, "--expires", "2d", "--json"], { OUTRIGGER_PIN: other.pin }),
      run(["edit", url, "--pin", wrongPin, "--name", "x"]),
      run(["edit", url, "--name", "x"]),
      run(["rm", `${url}/edit?pin=hush-hush`, "--yes"], { OUTRIGGER_PIN: "hush hush" }),
    ]);
    expect([named.code, named.stderr]).toEqual([0, ""]);
    // Controls are stripped by the service.
    expect(named.stdout).toMatch(/^sunset\[31m\.png {2}image\/png/);
    const expiresMs = Date.parse(printed(dated.stdout)[0]?.expiresAt ?? "");
    expect(Math.abs(expiresMs - Date.now() - 2 * DAY_MS)).toBeLessThan(DAY_MS / 24);
    expect([refused.code, refused.stderr]).toEqual([1, `outrigger: ${id}: The PIN is wrong\n`]);
    for (const { code, stderr } of [none, odd]) {
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${id}: needs its PIN`)]);
    }
    const unknown = `${site.url()}/${"A".repeat(22)}`;
    const removed = await run(["rm", editUrl, unknown, other.url, editUrl, "--yes"], {
      OUTRIGGER_PIN: other.pin,
    });
    expect([removed.code, removed.stdout]).toEqual([1, `${id} deleted\n${other.id} deleted\n`]);
    expect(removed.stderr).toBe(`outrigger: ${"A".repeat(22)}: There is no such image (${site.url()})\n`);
    const [again, gone, unasked] = await Promise.all([
      run(["rm", editUrl, "--yes"]),
      run(["get", url]),
      run(["rm", editUrl]),
    ]);
    expect([again.code, again.stderr]).toEqual([1, `outrigger: ${id}: This image was deleted\n`]);
    expect([gone.code, gone.stderr]).toEqual([1, `outrigger: ${id}: This image was deleted\n`]);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("--yes: is required")]);
    for (const { stdout, stderr } of [named, dated, refused, none, odd, removed, again, gone, unasked]) {
      for (const secret of [pin, other.pin, wrongPin, "hush"]) expect(stdout + stderr).not.toContain(secret);
    }
  });
});
