import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publicPackages } from "../../scripts/release/packages.mjs";
import { problemsOfProject } from "../../scripts/release/project.mjs";
import { writeSbom } from "../../scripts/release/sbom.mjs";
import { copyProject, readText, root, runScript } from "./copy.ts";

const REPOSITORY = "https://git.example/outrigger/outrigger";
const PROJECT = {
  repository: REPOSITORY,
  homepage: "https://outrigger.example/",
};
const UNSET = { repository: null, homepage: null };

let copy: string;

beforeAll(async () => {
  copy = await copyProject();
});

afterAll(async () => {
  await rm(copy, { recursive: true });
});

async function setProject(project: object): Promise<void> {
  await writeFile(join(copy, "scripts/release/project.json"), JSON.stringify(project));
}

test("a release is refused while the project's values are unset, and the message names each", async () => {
  await setProject(UNSET);
  const { status, output } = await runScript(copy, "scripts/release/release.mjs");
  expect(status).toBe(1);
  expect(output).toContain("Nothing was published:");
  for (const name of Object.keys(UNSET))
    expect(output).toContain(`project.json: "${name}" is not set. Set it`);
});

test("a release is refused while one value is unset, and the message names only that one", async () => {
  expect(problemsOfProject({ ...PROJECT, homepage: null })).toEqual([
    'scripts/release/project.json: "homepage" is not set. Set it to an http(s) URL without credentials.',
  ]);
});

test("a release is refused for values of another shape", async () => {
  const project = {
    repository: `${REPOSITORY}.git`,
    homepage: "outrigger.example",
  };
  const problems = problemsOfProject(project);
  expect(problems).toHaveLength(2);
  for (const value of Object.values(project)) expect(problems.join("\n")).toContain(JSON.stringify(value));
});

test("a release is refused with uncommitted changes, with change files, and without the contact in SECURITY.md", async () => {
  await setProject(PROJECT);
  await writeFile(join(copy, ".changeset/late.md"), '---\n"outrigger": patch\n---\n\nToo late.\n');
  const { status, output } = await runScript(copy, "scripts/release/release.mjs");
  await rm(join(copy, ".changeset/late.md"));
  expect(status).toBe(1);
  expect(output).toContain("uncommitted changes");
  expect(output).toContain('late.md. Run "npm run version"');
  expect(output).toContain("SECURITY.md does not have the security contact");
  expect(output).not.toContain("is not set");
});

test("packed manifests have the project's values, links of packed READMEs lead into the repository, and the files are restored", async () => {
  const folder = join(copy, "packed");
  await mkdir(folder);
  const script = join(copy, "pack-all.mjs");
  await writeFile(
    script,
    `import { packAsTheyAre } from "./scripts/release/pack.mjs";
     import { withProjectInPackages } from "./scripts/release/packages.mjs";
     const copy = ${JSON.stringify(copy)};
     const pack = async () => packAsTheyAre(copy, ${JSON.stringify(folder)});
     await withProjectInPackages(copy, ${JSON.stringify(PROJECT)}, pack);`,
  );
  const before = await textsOf(copy);
  expect(await runScript(copy, script)).toEqual({ status: 0, output: "" });
  const packages = publicPackages(root);
  expect(await readdir(folder)).toHaveLength(packages.length);
  for (const { directory, manifest } of packages) {
    const name = manifest.name.replace("@", "").replace("/", "-");
    const tarball = join(folder, `${name}-${manifest.version}.tgz`);
    expect(JSON.parse(await unpacked(tarball, "package.json"))).toEqual({
      ...manifest,
      homepage: "https://outrigger.example/",
      bugs: { url: `${REPOSITORY}/issues` },
      repository: { type: "git", url: `git+${REPOSITORY}.git`, directory },
    });
    expect(await unpacked(tarball, "CHANGELOG.md")).toContain(`## ${manifest.version}\n`);
    const readme = await unpacked(tarball, "README.md");
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !/^https?:|^#/.test(link))).toEqual([]);
    for (const link of links.filter((each) => each.startsWith(`${REPOSITORY}/blob/HEAD/`))) {
      const [path = ""] = link.slice(`${REPOSITORY}/blob/HEAD/`.length).split("#");
      expect(existsSync(join(root, path)), link).toBe(true);
    }
    expect(await unpacked(tarball, "LICENSE")).toBe(await readText(root, "LICENSE"));
  }
  expect(await textsOf(copy)).toEqual(before);
});

test("the SBOM of a release has all packages and their dependencies, each with a hash, and none for tests", async () => {
  const sbom = JSON.parse(await readFile(writeSbom(root, copy), "utf8"));
  expect(sbom).toMatchObject({
    bomFormat: "CycloneDX",
    metadata: { component: { name: "outrigger-workspace" } },
  });
  const names = new Set(sbom.components.map(({ name }: { name: string }) => name));
  for (const { manifest } of publicPackages(root)) {
    expect(names).toContain(manifest.name);
    for (const name of Object.keys(manifest.dependencies ?? {})) expect(names).toContain(name);
  }
  expect(names).not.toContain("vitest");
  const references = new Set(sbom.components.map((component: object) => Reflect.get(component, "bom-ref")));
  expect(references.size).toBe(sbom.components.length);
  for (const { ref, dependsOn } of sbom.dependencies)
    expect([ref, dependsOn.filter((each: string) => !references.has(each))]).toEqual([ref, []]);
  for (const { name, hashes } of sbom.components) {
    const isOurs = publicPackages(root).some(({ manifest }) => manifest.name === name);
    expect([name, hashes?.[0].alg]).toEqual([name, isOurs ? undefined : "SHA-512"]);
  }
});

async function textsOf(directory: string): Promise<string[]> {
  const files = publicPackages(directory).flatMap((found) =>
    ["package.json", "README.md"].map((file) => `${found.directory}/${file}`),
  );
  return Promise.all(files.map((file) => readText(directory, file)));
}

async function unpacked(tarball: string, file: string): Promise<string> {
  const { stdout } = await promisify(execFile)("tar", ["-xOzf", tarball, `package/${file}`]);
  return stdout;
}
