// Writes a list of all packages and dependencies (SBOM) into the folder, and publishes the packages whose version is not in the
// registry yet. `--dry-run` packs all of them into the folder instead, and prints what would be published.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { problemsBeforeRelease } from "./checks.mjs";
import { packAsTheyAre } from "./pack.mjs";
import { withProjectInPackages } from "./packages.mjs";
import { readProject } from "./project.mjs";
import { writeSbom } from "./sbom.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [option, ...rest] = process.argv.slice(2);
const isDryRun = option === "--dry-run";
const [folder] = isDryRun ? rest : [option];

// Children get the signal too and end. This process stays to restore the manifests.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

if (folder?.startsWith("-")) {
  fail(`Unknown option "${folder}". Usage: node scripts/release/release.mjs [--dry-run] [folder]`, 2);
}
const project = readProject(root);
const problems = problemsBeforeRelease(root, project);
const listed = problems.map((problem) => `- ${problem}`).join("\n");
if (problems.length > 0 && !isDryRun) fail(`Nothing was published:\n${listed}`, 1);

await run(process.execPath, "scripts/setup.mjs");
await run(bin("turbo"), "run", "lint:package", "lint:types", "--output-logs=errors-only");
const target = folder === undefined ? mkdtempSync(join(tmpdir(), "outrigger-release-")) : resolve(folder);
mkdirSync(target, { recursive: true });
console.log(`The SBOM is ${writeSbom(root, target)}`);
await withProjectInPackages(root, project, async () => {
  if (isDryRun) printDryRun();
  else await run(bin("changeset"), "publish");
});

function printDryRun() {
  for (const { name, version, filename, size, entryCount } of packAsTheyAre(root, target)) {
    console.log(`${name} ${version}: ${filename}, ${Math.ceil(size / 1000)} kB, ${entryCount} files`);
  }
  console.log(`The tarballs are in ${target}. Nothing was published.`);
  if (problems.length > 0) console.log(`A release would be refused:\n${listed}`);
}

async function run(command, ...args) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  const status = await new Promise((settle, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => settle(code ?? signal));
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
}

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

function fail(message, code) {
  console.error(message);
  process.exit(code);
}
