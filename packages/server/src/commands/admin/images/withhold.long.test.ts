import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { images } from "../../../../test/images-command.ts";
import { jpeg, outrigger, serve, temporaryDirectory, uploaded } from "../../../../test/outrigger-process.ts";

const FORMATS = ["json", "png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const UNKNOWN = "-aaaaaaaaaaaaaaaaaaaaa";

async function served() {
  const cwd = await temporaryDirectory();
  const url = await serve(cwd).url;
  const image = await uploaded(url, await jpeg());
  const addresses = FORMATS.map((format) => `${url}/api/images/${image.id}.${format}`);
  return { cwd, url, image, addresses: [...addresses, image.url, `${image.url}/view`] };
}

async function statuses(addresses: readonly string[]): Promise<number[]> {
  return Promise.all(addresses.map(async (address) => (await fetch(address, { method: "HEAD" })).status));
}

describe("outrigger images withhold, release", () => {
  it("answers 451 for every format and page of an image at once, until it is released", async () => {
    const { cwd, image, addresses } = await served();
    expect(new Set(await statuses(addresses))).toEqual(new Set([200]));
    const order = ["--reason", "Order of the court", "--authority", "https://court.example/4711"];
    expect(await images(cwd, "withhold", `${image.url}/view`, ...order)).toEqual({
      code: 0,
      stdout: `${image.id} withheld\n`,
      stderr: "",
    });
    for (const address of [...addresses, image.editUrl]) {
      const refused = await fetch(address);
      expect(refused.status).toBe(451);
      expect(refused.headers.get("link")).toBe('<https://court.example/4711>; rel="blocked-by"');
      expect(await refused.text()).toContain("Order of the court");
    }
    expect(await images(cwd, "release", image.id)).toEqual({
      code: 0,
      stdout: `${image.id} released\n`,
      stderr: "",
    });
    expect(new Set(await statuses(addresses))).toEqual(new Set([200]));
  });

  it("a withheld image that rm deletes answers 451 as the help of rm says, without its bytes", async () => {
    const { cwd, image, addresses } = await served();
    await images(cwd, "withhold", image.id, "--reason", "Under review");
    expect(await images(cwd, "rm", "--yes", image.id)).toMatchObject({ code: 0 });
    expect(new Set(await statuses(addresses))).toEqual(new Set([451]));
    expect(await (await fetch(image.url)).json()).toMatchObject({ detail: "Under review" });
    const { stdout } = await images(cwd, "rm", "--help");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("answer 410, those of a withheld image still 451");
  });

  it("names an unknown image, exits with 1, and changes the other images", async () => {
    const { cwd, url, image } = await served();
    const other = await uploaded(url, await jpeg());
    const ids = [image.id, UNKNOWN, `${url}/api/images/${other.id}.png?resize=9x`, image.id];
    expect(await images(cwd, "withhold", "--reason", "Under review", ...ids)).toEqual({
      code: 1,
      stdout: `${image.id} withheld\n${other.id} withheld\n`,
      stderr: `outrigger: ${UNKNOWN}: There is no such image, or it is gone\n`,
    });
    expect(await statuses([image.url, other.url])).toEqual([451, 451]);
    expect(await images(cwd, "release", UNKNOWN, image.id)).toMatchObject({
      code: 1,
      stdout: `${image.id} released\n`,
    });
  });

  it("changes the images of a list, and again without harm; a wrong line is named before the first change", async () => {
    const { cwd, url, image } = await served();
    const other = await uploaded(url, await jpeg());
    const list = join(cwd, "list.txt");
    const rows = ["# case 4711", "", `${image.url}/view`, `https://other.example/x/${other.id}`];
    await writeFile(list, `\ufeff${rows.join("\r\n")}\r\nhalf-an-id\r\n`);
    const args = ["--reason", "Under review", "--from", list];
    const refused = await images(cwd, "withhold", ...args);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("line 5: half-an-id: must be an image's ID");
    expect(await statuses([image.url, other.url])).toEqual([200, 200]);
    await writeFile(list, [...rows, image.id, UNKNOWN].join("\n"));
    const once = await images(cwd, "withhold", ...args);
    expect([once.code, once.stdout]).toEqual([1, `${image.id} withheld\n${other.id} withheld\n`]);
    expect(once.stderr).toContain("2 withheld, 1 failed\noutrigger: 1 failed: There is no such image");
    expect(await statuses([image.url, other.url])).toEqual([451, 451]);
    await writeFile(list, rows.join("\n"));
    expect(await images(cwd, "withhold", ...args)).toMatchObject({ code: 0 });
    expect(await images(cwd, "release", "--from", list)).toMatchObject({ code: 0 });
    expect(await statuses([image.url, other.url])).toEqual([200, 200]);
    for (let run = 0; run < 2; run++)
      expect(await images(cwd, "rm", "--yes", "--from", list)).toMatchObject({
        code: 0,
        stderr: "outrigger: 2 deleted, 0 failed\n",
      });
    expect(await statuses([image.url, other.url])).toEqual([410, 410]);
    for (const path of [join(cwd, "missing"), cwd, "/dev/null"])
      expect(await images(cwd, "release", "--from", path)).toMatchObject({ code: 2, stdout: "" });
  });

  it("exits with 2 for invalid arguments and changes nothing", async () => {
    const { cwd, image } = await served();
    const wrong: [string[], string][] = [
      [[image.id], "--reason"],
      [[image.id, "--reason", "x", "--delete-after", "2020-01-01"], "must be in the future"],
      [[image.id, "--reason", "x", "half-an-id", "\u001b[2J"], "half-an-id: must be an image's ID"],
      [["--reason", "x"], "missing required argument"],
    ];
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await images(cwd, "withhold", ...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("\u001b");
    }
    expect(await statuses([image.url])).toEqual([200]);
  });
});

describe("outrigger images release --copies", () => {
  it("releases what one withhold --copies withheld, names the others, and accepts the file again", async () => {
    const cwd = await temporaryDirectory();
    const url = await serve(cwd).url;
    const file = await jpeg();
    const [one, two, other] = [
      await uploaded(url, file),
      await uploaded(url, file),
      await uploaded(url, file),
    ];
    await images(cwd, "withhold", other.id, "--reason", "Another claim");
    await images(cwd, "withhold", one.id, "--reason", "A claim", "--copies");
    for (let run = 0; run < 2; run++)
      expect(await images(cwd, "release", "--copies", one.id)).toEqual({
        code: 0,
        stdout: `${one.id} released\n${two.id} released\n${other.id} stays withheld by another decision\n`,
        stderr: "",
      });
    expect(await statuses([one.url, two.url, other.url])).toEqual([200, 200, 451]);
    await uploaded(url, file);
  });
});

describe("outrigger images deny, allow, denials, withhold --copies", () => {
  it("denies a list, prints it in the form that it takes, and allows again", async () => {
    const cwd = await temporaryDirectory();
    const url = await serve(cwd).url;
    const file = await jpeg();
    const first = await uploaded(url, file);
    const second = await uploaded(url, file);
    expect(
      await images(cwd, "withhold", first.id, "--reason", "Order of the court", "--copies"),
    ).toMatchObject({
      code: 0,
      stdout: `${first.id} withheld\n`,
    });
    expect(await statuses([first.url, second.url])).toEqual([451, 451]);
    const list = join(cwd, "list.txt");
    const hash = (digit: string) => digit.repeat(64);
    await writeFile(
      list,
      `${hash("a")}\n\nnonsense\n{"sha256":"${hash("b")}","reason":"Law","isLegal":true}\n`,
    );
    expect(await images(cwd, "deny", "--from", list, "--reason", "Abuse")).toEqual({
      code: 1,
      stdout: "2 denied\n",
      stderr: `outrigger: ${list}: line 3 is no SHA-256 with a reason, and is left out\n`,
    });
    const { stdout } = await images(cwd, "denials");
    const denials = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(denials.map(({ reason, isLegal }) => [reason, isLegal]).sort()).toEqual([
      ["Abuse", false],
      ["Law", true],
      ["Order of the court", true],
    ]);
    expect(await images(cwd, "allow", hash("a"))).toMatchObject({ code: 0 });
    const again = outrigger(["images", "deny", "--from", "-"], { cwd, input: stdout });
    expect([await again.exit, again.output.stdout]).toEqual([0, "3 denied\n"]);
    expect(await images(cwd, "deny", hash("c"))).toMatchObject({ code: 2 });
    expect(await images(cwd, "deny", "abc", "--reason", "x")).toMatchObject({ code: 2 });
    expect(await images(cwd, "deny", "--reason", "x")).toMatchObject({ code: 2 });
  });
});
