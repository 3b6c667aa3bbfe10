import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfigFile } from "../../packages/server/src/config/config-file.ts";
import { type Block, blocksIn, placeOf, ROOT, readPages } from "./pages.ts";

const pages = await readPages();
// front-end.long.test.ts runs jsx, and sendfile.nightly.test.ts lighttpd.
const LANGUAGES = [
  ...["", "diff", "dockerfile", "http", "ini", "js", "json", "jsx", "lighttpd", "nginx", "sh", "text", "ts"],
];
const named = (...langs: string[]) =>
  blocksIn(pages, ...langs).map((block) => [placeOf(block), block] as const);
const linesOf = ({ code }: Block) =>
  code
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*/, "").trim())
    .filter((line) => line !== "");

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-configs-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("every block is in a language that these tests check", () => {
  const others = pages.flatMap(({ blocks }) => blocks.filter(({ lang }) => !LANGUAGES.includes(lang)));
  expect(others.map((block) => `${placeOf(block)}: ${block.lang}`)).toEqual([]);
});

test.each(named("json"))("the JSON of %s parses", (_, { code }) => {
  expect(() => JSON.parse(code)).not.toThrow();
});

const configurations = named("json", "js").filter(([, { file }]) => file.startsWith("outrigger.config."));

test("the guides show configuration files of the server", () =>
  expect(configurations.length).toBeGreaterThan(2));

test.each(configurations)("the server accepts the configuration of %s", async (_, { file, code }) => {
  const path = join(directory, file);
  await writeFile(path, code);
  await expect(readConfigFile(path)).resolves.toEqual(expect.any(Object));
});

test("the server refuses a configuration with a key that it does not have", async () => {
  const path = join(directory, "wrong.json");
  await writeFile(path, '{ "prot": 1 }');
  await expect(readConfigFile(path)).rejects.toThrow("prot: unknown key, did you mean port?");
});

test.each(named("ini"))("the unit file of %s has sections and settings", (_, block) => {
  const [first, ...others] = linesOf(block);
  expect(first).toMatch(/^\[\w+\]$/);
  for (const line of others) expect(line).toMatch(/^(\[\w+\]|[A-Z]\w+=\S.*)$/);
});

test("every header Host for nginx, in pages and in the example, keeps the port of the request", async () => {
  const example = await readFile(join(ROOT, "examples/deploy/nginx.conf"), "utf8");
  const texts = [...pages.map(({ text }) => text), example];
  const hosts = texts.flatMap((text) => text.match(/proxy_set_header Host \S+?(?=[;)])/g) ?? []);
  expect(hosts.length).toBeGreaterThan(1);
  expect(new Set(hosts)).toEqual(new Set(["proxy_set_header Host $http_host"]));
});

test.each(named("nginx"))(
  "the nginx configuration of %s has ends for its directives and blocks",
  (_, block) => {
    let depth = 0;
    for (const line of linesOf(block)) {
      expect(line).toMatch(/[;{}]$/);
      depth += line.split("{").length - line.split("}").length;
      expect(depth).toBeGreaterThanOrEqual(0);
    }
    expect(depth).toBe(0);
  },
);

test.each(named("http"))("the HTTP message of %s begins with a request or status line", (_, { code }) => {
  expect(code).toMatch(/^(HTTP\/1\.1 [1-5]\d\d [A-Z]|(GET|HEAD|POST|PATCH|DELETE) [{/])/);
});

test.each(named("dockerfile"))("the lines of %s begin with instructions", (_, { code }) => {
  for (const line of code.trim().replaceAll("\\\n", "").split("\n")) expect(line).toMatch(/^[A-Z]+ \S/);
});
