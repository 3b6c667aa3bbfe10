import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/listen.ts";
import { serveForAll } from "./served.ts";

const site = serveForAll();
const { run } = site;

describe("outrigger find, verify and search", () => {
  it("find, verify and search print the lookup's results", async () => {
    const [found, raw, absent, verified, verdict, listed, titled, wrong] = await Promise.all([
      run(["find", "--domain", "example.com", "--name", "Ada Lovelace"]),
      run(["find", "--company", "Example Engines", "--name", "Ada Lovelace", "--json"]),
      run(["find", "--domain", "nothere.example", "--name", "Ada Lovelace"]),
      run(["verify", "ada.lovelace@example.com", "someone.else@example.com", "x@y"]),
      run(["verify", "ada.lovelace@example.com", "--json"]),
      run(["search", "example.com", "--limit", "2", "--type", "personal"]),
      run([
        "search",
        "example.com",
        "--titles",
        "Sales Manager,CEO,head engineering",
        "--required",
        "full_name",
      ]),
      run(["search", "example.com", "--status", "splendid"]),
    ]);
    expect([found.code, found.stderr]).toEqual([0, ""]);
    expect(found.stdout.split("\n").slice(0, 4)).toEqual([
      "ada.lovelace@example.com",
      "Name      Ada Lovelace",
      "Score     97",
      "Position  Chief Analyst",
    ]);
    expect(JSON.parse(raw.stdout)).toMatchObject({ data: { email: "ada.lovelace@example.com", score: 97 } });
    expect([absent.code, absent.stdout]).toEqual([0, "No address was found\n"]);
    expect([verified.code, verified.stderr]).toEqual([0, ""]);
    expect(verified.stdout.split("\n")).toEqual([
      "ada.lovelace@example.com  deliverable  valid  100",
      "someone.else@example.com  risky  unknown  30  not probed",
      "x@y  undeliverable  invalid  0  domain syntax",
      "",
    ]);
    expect(JSON.parse(verdict.stdout)).toMatchObject({ data: { status: "valid" } });
    expect(listed.stdout.split("\n")[0]).toBe("ada.lovelace@example.com  97  Ada Lovelace  Chief Analyst");
    expect(listed.stderr).toMatch(/^outrigger: \d+ addresses of example\.com, 1 to 2 shown\n$/);
    expect(titled.stdout.match(/\S+@\S+/g)).toEqual(["grace.hopper@example.com", "mary.jackson@example.com"]);
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toContain("--status must be one of valid, accept_all, unknown");
  });

  it("the commands take the key from a file or the environment, and never print it", async () => {
    await writeFile(join(site.cwd(), "key"), `${site.key()}\n`);
    const none = { OUTRIGGER_API_KEY: "" };
    const [filed, missing, wrong] = await Promise.all([
      run(["search", "example.com", "--key-file", "key", "--json"], none),
      run(["verify", "a@example.com"], none),
      run(["verify", "a@example.com", "b@example.com", "c@example.com"], { OUTRIGGER_API_KEY: "hush" }),
    ]);
    expect([filed.code, JSON.parse(filed.stdout).data.domain]).toEqual([0, "example.com"]);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining("OUTRIGGER_API_KEY: must be"),
    ]);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      "outrigger: a@example.com: No user found for the API key supplied\noutrigger: 2 more were not tried\n",
    ]);
  });
});

it("wrong usage exits with 2 before any request is sent", async () => {
  const to = `http://127.0.0.1:${await freePort()}`;
  const wrong: [string[], string][] = [
    [["upload"], "missing required argument 'file'"],
    [
      ["upload", "photo.png", "--expires", "soon"],
      "must be a duration such as 30m, 12h, 7d or 2w, or a date",
    ],
    [["upload", "photo.png", "photo.png", "--name", "x"], "--name: must not be given for several files"],
    [
      ["upload", "photo.png", "photo.png", "--description", "x"],
      "--description: must not be given for several files",
    ],
    [["upload", "-", "-"], "-: standard input can be read only once"],
    [["upload", "photo.png", "--to", "img.example.com"], "--to: must be an absolute http(s) URL"],
    [["get", "photo"], "photo: must be an image's address or its ID"],
    [["get", "A".repeat(22), "--as", "tiff"], "must be one of png, jpg, gif, svg, psd, pdf, webp, avif"],
    [
      ["edit", "A".repeat(22), "--pin", "0123456789ABCDEF"],
      "--name, --description, --expires or --focus: one of them is required",
    ],
    [["find", "--name", "Ada Lovelace"], "--domain or --company: exactly one of them is required"],
    [["verify"], "missing required argument 'address'"],
  ];
  const runs = await Promise.all(wrong.map(([args]) => run(args, { OUTRIGGER_URL: to })));
  expect(runs.map(({ code, stdout }) => [code, stdout])).toEqual(wrong.map(() => [2, ""]));
  expect(runs.map(({ stderr }) => stderr)).toEqual(wrong.map(([, why]) => expect.stringContaining(why)));
});

it("--help explains every command with examples", async () => {
  const names = ["upload", "get", "edit", "rm", "find", "verify", "search"];
  const [general, ...explained] = await Promise.all([
    run(["--help"]),
    ...names.map((name) => run([name, "--help"])),
  ]);
  for (const name of [...names, "serve", "images"])
    expect(general?.stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  for (const { code, stdout } of explained) {
    expect(code).toBe(0);
    for (const word of ["--to", "Environment:", "Examples:", "Exit codes:"]) expect(stdout).toContain(word);
  }
});
