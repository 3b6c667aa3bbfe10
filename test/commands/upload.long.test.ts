import { randomBytes } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/listen.ts";
import { svgDrawing } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { DAY_MS, photoForAll, printed } from "./printed-images.ts";
import { serveForAll, start } from "./served.ts";

const site = serveForAll();
const { run } = site;
const photo = photoForAll(site);

describe("the command upload", () => {
  it("upload prints the addresses of image, page and edit page, and the expiry", async () => {
    const begunMs = Date.now();
    const { code, stdout, stderr } = await run(["upload", "photo.png", "--expires", "7d"]);
    expect([code, stderr]).toEqual([0, ""]);
    const [facts, page, image, edit, expires, ...rest] = stdout.split("\n");
    expect(facts).toMatch(/^photo\.png {2}image\/png {2}64 × 48 {2}[\d.]+ KiB$/);
    const url = /^Image {4}(\S+)$/.exec(image ?? "")?.[1] ?? "";
    expect(url.startsWith(`${site.url()}/`)).toBe(true);
    expect(page).toBe(`Page     ${url}/view`);
    expect(edit).toMatch(/^Edit {5}\S+\/edit\?pin=[0-9A-Z]{16}$/);
    const days = [begunMs, Date.now()].map((ms) => new Date(ms + 7 * DAY_MS).toISOString().slice(0, 10));
    expect(expires).toMatch(new RegExp(`^Expires {2}(?:${days.join("|")})`));
    expect(rest).toEqual([""]);
    expect((await fetch(url)).headers.get("Content-Type")).toBe("image/png");
    expect(await (await fetch(`${url}/view`)).text()).toMatch(/outrigger/i);
  });

  it("upload recognises files by their content, skips unusable files with a reason, and exits with 1", async () => {
    await writeFile(join(site.cwd(), "drawing.txt"), svgDrawing);
    await writeFile(join(site.cwd(), "words.png"), "words");
    await writeFile(join(site.cwd(), "new.png"), await sharp(photo.png()).webp().toBuffer());
    await writeFile(join(site.cwd(), "broken.png"), photo.png().subarray(0, 200));
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
    const none = "imagedata is not a PNG, JPEG, GIF, SVG, PSD or PDF file";
    for (const [name, why] of [
      ["words.png", none],
      ["new.png", "This is a WebP picture; convert it to PNG or JPEG first"],
      ["pictures", "it is a directory"],
      ["none.png", "there is no such file or directory"],
      ["empty.png", "it is empty"],
      // Only the service detects this one.
      ["broken.png", ""],
    ] as const) {
      expect(said.find((line) => line.startsWith(`outrigger: ${name}: `))).toContain(why);
    }
  });

  it("upload continues a large file at the last byte after a broken connection", async () => {
    const size = 1830;
    const raw = { width: size, height: size, channels: 3 } as const;
    const noise = await sharp(randomBytes(size * size * 3), { raw })
      .png({ compressionLevel: 0 })
      .toBuffer();
    await writeFile(join(site.cwd(), "noise.png"), noise);
    await withSite({ resumable: true }, async (resumable) => {
      const proxy = await startTcpProxy(Number(new URL(resumable.origin).port));
      proxy.cut({ direction: "up", afterBytes: 6_000_000, times: 1 });
      const to = ["--to", `${proxy.endpoint}/img`];
      const { code, stdout, stderr } = await run(["upload", "noise.png", "--json", ...to]);
      expect([code, stderr, proxy.cuts()]).toEqual([0, "", 1]);
      expect(printed(stdout)[0]).toMatchObject({ name: "noise.png", width: size, pin: expect.any(String) });
      expect(proxy.sentBytes()).toBeLessThan(1.2 * noise.length);
      await proxy.close();
    });
  });

  it("upload - reads the standard input and gives a nameless image a name of its type", async () => {
    const [named, nameless, text, empty, later] = await Promise.all([
      run(["upload", "-", "--json", "--name", "Screen"], {}, photo.png()),
      run(["upload", "--json", "-"], {}, svgDrawing),
      run(["upload", "-"], {}, Buffer.alloc(1_000_000, "text ")),
      run(["upload", "-"]),
      run(["upload", "photo.png", "--json", "--no-wait"]),
    ]);
    expect(printed(named.stdout)[0]).toMatchObject({ file: "-", name: "Screen", type: "image/png" });
    expect(printed(nameless.stdout)[0]).toMatchObject({ name: "image.svg", type: "image/svg+xml" });
    expect([text.code, text.stderr]).toEqual([
      1,
      "outrigger: -: imagedata is not a PNG, JPEG, GIF, SVG, PSD or PDF file\n",
    ]);
    expect([empty.code, empty.stderr]).toEqual([1, "outrigger: -: cannot be uploaded: it is empty\n"]);
    expect(printed(later.stdout)[0]).toMatchObject({ status: "processing", pin: expect.any(String) });
    // The temporary files are deleted.
    expect(await readdir(join(site.cwd(), "tmp"))).toEqual([]);
  });

  it("upload says that a damaged file is damaged, without the words of its decoder", async () => {
    await writeFile(join(site.cwd(), "cut.jpg"), Buffer.from("ffd8ffe0", "hex"));
    expect(await run(["upload", "cut.jpg"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "outrigger: cut.jpg: The file is damaged or incomplete\n",
    });
  });

  it("upload prints the reason of a refusal, and the address where no service answers", async () => {
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
    expect([distant.code, distant.stderr]).toEqual([
      1,
      expect.stringContaining("photo.png: --expires must be at most 365 days from now\n"),
    ]);
  });

  it("upload sends one file with a ticket, to the service in its address, and prints no edit address", async () => {
    const ticket = async (fields = {}) => {
      const body = JSON.stringify(fields);
      const headers = { "Content-Type": "application/json" };
      const reply = await fetch(`${site.url()}/api/tickets.json`, { method: "POST", headers, body });
      return (await reply.json()).url;
    };
    const page = (await ticket()).replace("api/images.json?", "#");
    const nowhere = { OUTRIGGER_URL: "http://127.0.0.1:9" };
    const [plain, pinned, named, used] = await Promise.all([
      run(["upload", "photo.png", "--ticket", await ticket({ name: "Receipt" })], nowhere),
      run(["upload", "photo.png"], { ...nowhere, OUTRIGGER_TICKET: await ticket({ pin: true }) }),
      run(["upload", "photo.png", "--ticket", (await ticket()).replace(/.*=/, ""), "--json"]),
      run(["upload", "photo.png", "--ticket", page, "--json"], nowhere),
    ]);
    expect([plain.code, plain.stderr]).toEqual([0, ""]);
    expect(plain.stdout).toMatch(/^Receipt .*\nPage .*\nImage .*\nExpires /);
    expect(pinned.stdout).toMatch(/^Edit {5}\S+\/edit\?pin=[0-9A-Z]{16}$/m);
    expect([named, used].map(({ stdout }) => "pin" in Object(printed(stdout)[0]))).toEqual([false, false]);
    const bare = await run(["upload", "photo.png", "--print", "edit", "--ticket", await ticket()]);
    expect([bare.code, bare.stdout]).toEqual([0, ""]);
    expect(bare.stderr).toMatch(
      /^outrigger: \S+\/[\w-]{22}: has no edit address: the ticket of its upload grants no PIN\n$/,
    );
    await writeFile(join(site.cwd(), "other.svg"), svgDrawing);
    const [again, two, wrong] = await Promise.all([
      run(["upload", "other.svg", "--ticket", page]),
      run(["upload", "photo.png", "other.svg", "--ticket", page]),
      run(["upload", "photo.png", "--ticket", "https://example.com/img"]),
    ]);
    expect([again.code, again.stderr]).toEqual([
      1,
      "outrigger: other.svg: This ticket was sent before with another upload. Use a new one\n",
    ]);
    expect(two.stderr).toContain("--ticket: permits one file only");
    expect(wrong.stderr).toContain("--ticket: must be an upload ticket, or the address of one");
    expect(wrong.stderr + two.stderr).not.toContain("example.com");
  });

  it.each(["SIGINT", "SIGTERM"] as const)("upload exits with 130 on %s", async (signal) => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    // It reads the whole request and never answers.
    const url = await site.instead((request) => request.resume().on("end", arrived));
    const { child, ended } = start(["upload", "photo.png", "photo.png", "--to", url], { cwd: site.cwd() });
    await arrival;
    child.kill(signal);
    expect(await ended).toEqual({ code: 130, stdout: "", stderr: "outrigger: Stopped\n" });
  });
});
