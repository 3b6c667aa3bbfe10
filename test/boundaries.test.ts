import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  dependenciesOf,
  files,
  importsOf,
  isTest,
  manifests,
  packages,
  read,
  root,
  sourcesOf,
} from "./support/project-files.ts";

/** Siblings that a package may import. Packages without an entry may import core only; test files also the suites. */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | "all">> = {
  // Types only, which its build copies.
  client: ["core"],
  core: [],
  express: ["core", "node"],
  fetch: ["core", "node"],
  koa: ["core", "node"],
  "page-index": ["core", "sql"],
  server: "all",
};

/** The conformance suites, which no source imports. */
const SUITES = "@outrigger/testing";

/** Files that hand an allow-listed environment to child processes. */
const MAY_READ_ENVIRONMENT = [
  "packages/imaging/src/pool/node-program.ts",
  "packages/imaging/src/pool/start-process.ts",
  "packages/page-index/bin/outrigger-index.js",
];

/** Development dependencies that a build puts into the package. */
const BUNDLED: Readonly<Record<string, string>> = { "packages/imaging": "@cantoo/pdf-lib" };

/** Names of the main entry of core that render processes need, too. They load `values` only. */
const LIGHT_TOO = ["isServiceError", "ServiceError"];

const NODE_RANGE = ">=20.19";
const MAX_LINES = 300;

describe("packages", () => {
  it.each(packages)("$path imports only the siblings that it may", ({ path, manifest }) => {
    const name = path.slice("packages/".length);
    const allowed = MAY_IMPORT[name] ?? ["core"];
    const siblings = packages.map((sibling) => sibling.manifest.name);
    const tests = importsOf(sourcesOf(path).filter(isTest)).filter((used) => used !== SUITES);
    const sources = importsOf(sourcesOf(path).filter((file) => !isTest(file)));
    const used = [...sources, ...tests, ...Object.keys(dependenciesOf(manifest))];
    const forbidden = used.filter(
      (used) =>
        siblings.includes(used) &&
        used !== manifest.name &&
        (used === SUITES || (allowed !== "all" && !allowed.includes(used.slice("@outrigger/".length)))),
    );
    expect(forbidden).toEqual([]);
  });

  it.each(packages)(
    "$path declares every package it imports and imports every package it declares",
    ({ path, manifest }) => {
      const sources = importsOf(sourcesOf(path).filter((file) => !isTest(file)));
      const isOwn = (name: string) => path === "packages/client" && name.startsWith("@outrigger/");
      const used = sources.filter((name) => !isOwn(name) && name !== BUNDLED[path]);
      const declared = Object.keys(dependenciesOf(manifest));
      expect(used.filter((name) => !declared.includes(name))).toEqual([]);
      expect(declared.filter((name) => !used.includes(name))).toEqual([]);
    },
  );

  it("the client imports only types of core and of tus-js-client, and publishes declarations that import no package", () => {
    const imports = sourcesOf("packages/client")
      .filter((file) => !isTest(file))
      .flatMap((file) => read(file).match(/^(?:import|export)[^;]* from "(?!\.)[^"]+"/gm) ?? []);
    expect(imports.length).toBeGreaterThan(0);
    for (const text of imports)
      expect(text).toMatch(/^(?:im|ex)port type \{[^}]*\} from "(?:@outrigger\/core[/"]|tus-js-client")/);
    const declarations = readdirSync(join(root, "packages/client/dist")).filter((name) =>
      name.endsWith(".d.ts"),
    );
    expect(declarations).toContain("core-types.d.ts");
    for (const name of declarations)
      expect(read(`packages/client/dist/${name}`)).not.toMatch(/\bfrom "[^.]|\bimport\("[^.]/);
  });

  it("every package has core as a caret peer dependency, and the server as a dependency", () => {
    const core = packages.find(({ path }) => path === "packages/core")?.manifest;
    const asked = packages.flatMap(({ path, manifest }) => {
      const own = { ...manifest.dependencies, ...manifest.optionalDependencies }["@outrigger/core"];
      const peer = manifest.peerDependencies?.["@outrigger/core"];
      return own === undefined && peer === undefined ? [] : [{ path, own, peer }];
    });
    expect(asked.length).toBeGreaterThan(5);
    for (const { path, own, peer } of asked) {
      const version = core?.version ?? "none";
      const caret = `^${version}`;
      const wanted =
        path === "packages/server" ? { own: caret, peer: undefined } : { own: undefined, peer: caret };
      expect({ path, own, peer }).toEqual({ path, ...wanted });
    }
  });

  it.each(packages)("$path exports one source file per entry", ({ path, manifest }) => {
    for (const [entry, target] of Object.entries(manifest.exports ?? {})) {
      if (entry === "./package.json") continue;
      const name = entry === "." ? "index" : entry.slice("./".length);
      // The order counts: TypeScript takes the first condition that fits.
      expect(Object.entries(target)).toEqual([
        ["types", `./dist/${name}.d.ts`],
        ["default", `./dist/${name}.js`],
      ]);
      expect(existsSync(join(root, path, "src", `${name}.ts`))).toBe(true);
    }
    expect(Object.keys(manifest.exports ?? {})).toContain(".");
    for (const target of Object.values(manifest.bin ?? {})) {
      expect(existsSync(join(root, path, target))).toBe(true);
    }
  });

  it.each(packages)("$path lists what its entries export, each name in one entry", ({ path, manifest }) => {
    const entries = Object.keys(manifest.exports ?? {}).filter((entry) => entry !== "./package.json");
    const names = entries.flatMap((entry) => {
      const text = read(`${path}/src/${entry === "." ? "index" : entry.slice("./".length)}.ts`);
      expect(text).not.toMatch(/^export (?:type )?\* from/m);
      const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
        list.split(","),
      );
      const own = [
        ...text.matchAll(/^export (?:(?:async )?function|const|class|interface|type|\* as) (\w+)/gm),
      ];
      return [
        ...lists.map((name) => name.replace(/^.* as |type /g, "").trim()),
        ...own.map(([, name]) => name),
      ];
    });
    const exported = names.filter((name) => name !== "");
    expect(exported.length).toBeGreaterThan(0);
    const twice = exported.filter((name, at) => exported.indexOf(name) !== at);
    expect(twice).toEqual(path === "packages/core" ? LIGHT_TOO : []);
  });

  it.each(manifests)("$path/package.json requires Node 20.19 or newer", ({ manifest }) => {
    expect(manifest.engines).toEqual({ node: NODE_RANGE });
  });

  it.each(packages)("$path has a README that names it", ({ path, manifest }) => {
    expect(read(`${path}/README.md`)).toContain(`# ${manifest.name}\n`);
  });
});

describe("source files", () => {
  it("only the server package and the command of the page index read the environment", () => {
    const readers = packages
      .filter(({ path }) => path !== "packages/server")
      .flatMap(({ path }) => sourcesOf(path))
      .filter((file) => !isTest(file) && !MAY_READ_ENVIRONMENT.includes(file))
      .filter((file) => /\bprocess\??\.env\b|\bprocess\[|\benv\b[^;]*from "node:process"/.test(read(file)));
    expect(readers).toEqual([]);
  });

  it("what a render process loads imports values from core/values alone, so that no service is loaded", () => {
    const loaded = files.filter((file) => /^packages\/imaging\/src\/(?:shared|worker)\/.*\.ts$/.test(file));
    expect(loaded.length).toBeGreaterThan(50);
    const imports = /^(?:im|ex)port (?!type)[^;]* from "@outrigger\/core(?!\/values")[^"]*"/m;
    expect(loaded.filter((file) => !isTest(file) && imports.test(read(file)))).toEqual([]);
  });

  it("no source asks URL.canParse, which Node 20 and 22 answer wrongly for letters such as ü", () => {
    // The client has no dependencies, and browsers answer rightly.
    const asking = files.filter((file) => /^packages\/(?!client\/)[^/]+\/src\/.*\.ts$/.test(file));
    expect(asking.filter((file) => !isTest(file) && /URL\.canParse\(/.test(read(file)))).toEqual([]);
  });

  it("no source tests an error with instanceof, which fails for errors of another realm", () => {
    const sources = packages.flatMap(({ path }) => sourcesOf(path)).filter((file) => !isTest(file));
    expect(sources.filter((file) => /\w instanceof (?:Service)?Error\b/.test(read(file)))).toEqual([]);
  });

  it(`source files have at most ${MAX_LINES} lines`, () => {
    const sources = files.filter((file) => /\.[mc]?[jt]sx?$/.test(file) && !isTest(file));
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((file) => read(file).trimEnd().split("\n").length > MAX_LINES)).toEqual([]);
  });

  it("no file contains a machine path or the host of a registry", () => {
    // Written so that this file does not match itself.
    const path = /(?<![\w.~}/-])\/(?:home|Users|root|w[o]rk|f[a]rm)\/[\w.-]/;
    const host = /registry\.[a-z]+js\.|registry\.y[a]rnpkg\.|deb\.[a-z]+\.org|archive\.ubuntu\./;
    const naming = files.filter((file) => {
      const text = read(file);
      return !text.includes("\0") && (path.test(text) || host.test(text));
    });
    expect(naming).toEqual([]);
  });
});
