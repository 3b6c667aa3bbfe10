import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { photoForAll, printed } from "./printed-images.ts";
import { serveForAll } from "./served.ts";

const site = serveForAll();
const { run } = site;
photoForAll(site);
const file = () => join(site.cwd(), "state", "outrigger", "uploads.ndjson");

describe("the list of own uploads", () => {
  it("concurrent uploads lose no line, only the user can read the file, and rm and edit take its PINs", async () => {
    const uploads = await Promise.all(
      Array.from({ length: 4 }, () => run(["upload", "photo.png", "photo.png", "--print", "url"])),
    );
    const urls = uploads.flatMap(({ stdout }) => stdout.trimEnd().split("\n"));
    expect(uploads.map(({ code, stderr }) => [code, stderr])).toEqual(uploads.map(() => [0, ""]));
    expect(urls).toHaveLength(8);
    expect((await run(["list", "--print", "url"])).stdout.trimEnd().split("\n").sort()).toEqual(urls.sort());
    expect([(await stat(file())).mode & 0o777, (await stat(join(file(), ".."))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    const [first = "", second = ""] = urls;
    const edited = await run(["edit", first, "--name", "sunset.png"]);
    const removed = await run(["rm", "--yes", second]);
    expect([edited.code, removed.code]).toEqual([0, 0]);
    const left = printed((await run(["list", "--json"])).stdout);
    expect(left.map(({ url }) => url)).not.toContain(second);
    expect(left.find(({ url }) => url === first)?.name).toBe("sunset.png");
    const shown = (await run(["list"])).stdout;
    expect(shown).toMatch(/^sunset\.png\nImage {4}\S+\nEdit {5}\S+\/edit\?pin=\w{16}\nExpires {2}\d{4}-/m);
  });

  it("--print url prints the addresses in the order of the files, and --no-record adds none to the list", async () => {
    const args = ["photo.png", "none.png", "photo.png", "--no-record"];
    const { code, stdout, stderr } = await run(["upload", ...args, "--print", "url"]);
    expect([code, stderr]).toEqual([
      1,
      "outrigger: none.png: cannot be uploaded: there is no such file or directory\n",
    ]);
    expect(stdout).toMatch(/^https?:\S+[\w-]{22}\nhttps?:\S+[\w-]{22}\n$/);
    expect(await run(["list"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("a damaged or unwritable list is a warning, and its PIN goes to no other service", async () => {
    const [image] = printed((await run(["upload", "photo.png", "--json"])).stdout);
    await writeFile(file(), `${await readFile(file(), "utf8")}{"url":`);
    const after = await run(["upload", "photo.png"]);
    expect([after.code, after.stderr]).toEqual([0, ""]);
    const listed = await run(["list", "--print", "url"]);
    expect([listed.code, listed.stdout.split("\n").length]).toEqual([0, 3]);
    expect(listed.stderr).toContain("damaged lines were skipped: 1");
    const elsewhere = await run(["rm", "--yes", `http://127.0.0.1:9/${image?.id}`]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining("needs its PIN")]);
    const blocked = join(site.cwd(), "blocked");
    await mkdir(blocked);
    await writeFile(join(blocked, "outrigger"), "");
    const unwritable = await run(["upload", "photo.png"], { XDG_STATE_HOME: blocked });
    expect([unwritable.code, unwritable.stdout]).toEqual([0, expect.stringContaining("Image ")]);
    expect(unwritable.stderr).toContain("the image is not in the list");
  });
});
