// Prepares a checkout: checks the Node version, installs the dependencies of package-lock.json, builds every package.
// If nothing has changed since the last run, it only reads file times. With --install-only it does not build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const BUILD_SCRIPTS = ["bundle.mjs", "bundle-library.mjs", "disposable-domains.mjs", "inline-types.mjs"];
const stampFile = join(root, "node_modules", ".outrigger-setup.json");

checkNode();
let began = 0;
const stamp = readJson(stampFile) ?? {};
const done = [];
install();
if (!process.argv.includes("--install-only")) build();
if (done.length > 0) console.log(`Ready: ${done.join(", ")}`);

/** Says what takes long from now on. */
function begin(what) {
  began = Date.now();
  console.log(`${what} …`);
}

function seconds() {
  return `${((Date.now() - began) / 1000).toFixed(1)} s`;
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Outrigger needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}

function install() {
  const lock = sha256(readFileSync(join(root, "package-lock.json")));
  if (stamp.lock === lock && existsSync(join(root, "node_modules", ".bin"))) return;
  // A user who has just run npm does not wait for it again.
  if (!isInstalled()) {
    begin("Installing the dependencies: about a minute, more on a slow line");
    run("npm", ["ci", "--no-audit", "--no-fund", "--no-update-notifier"]);
    done.push(`dependencies installed (${seconds()})`);
  }
  save({ lock });
}

/** Whether npm's own record of node_modules matches the lock file. */
function isInstalled() {
  const installed = readJson(join(root, "node_modules", ".package-lock.json"))?.packages;
  if (installed === undefined) return false;
  const wanted = readJson(join(root, "package-lock.json")).packages;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === "" || entry.optional || entry.peer) continue;
    if (installed[path]?.version !== entry.version || installed[path]?.link !== entry.link) return false;
  }
  return Object.keys(installed).every((path) => path in wanted);
}

function build() {
  const sources = fingerprint();
  if (stamp.sources === sources && isBuilt()) return;
  begin("Building the packages: about a minute");
  run(join(root, "node_modules", ".bin", "turbo"), ["run", "build", "--output-logs=errors-only"], {
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
  });
  done.push(`packages built (${seconds()})`);
  save({ sources });
}

/** Names, sizes and times of all build inputs. */
function fingerprint() {
  const hash = createHash("sha256");
  const add = (path) => {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  };
  for (const path of ["package.json", "turbo.json", "packages/tsconfig.base.json"]) add(path);
  for (const name of BUILD_SCRIPTS) add(`scripts/${name}`);
  for (const name of packageNames()) {
    add(`packages/${name}/package.json`);
    add(`packages/${name}/tsconfig.json`);
    for (const path of sourcesOf(name)) {
      if (!path.endsWith(".test.ts")) add(path);
    }
  }
  return hash.digest("hex");
}

function sourcesOf(name) {
  const folders = ["src", "browser"].map((folder) => join(root, "packages", name, folder)).filter(existsSync);
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return paths.map((path) => path.slice(root.length)).sort();
}

function isBuilt() {
  return packageNames().every((name) => {
    const entries = Object.values(readJson(join(root, "packages", name, "package.json")).exports);
    const files = entries.map((entry) => (typeof entry === "string" ? entry : entry.default));
    return files.every((file) => existsSync(join(root, "packages", name, file)));
  });
}

function packageNames() {
  const names = readdirSync(join(root, "packages"));
  return names.filter((name) => existsSync(join(root, "packages", name, "package.json"))).sort();
}

/** Runs quietly; a failure prints the whole output and exits. */
function run(command, args, env = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (result.status === 0) return;
  process.stdout.write(result.stdout ?? "");
  process.stderr.write(result.stderr ?? "");
  console.error(
    `${[command, ...args].join(" ")} failed: ${result.error?.message ?? `status ${result.status}`}`,
  );
  process.exit(1);
}

function save(change) {
  writeFileSync(stampFile, JSON.stringify(Object.assign(stamp, change)));
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
