// The whole test run: checks of the sources, checks of the packages, then every test. Ends with one summary line; with
// CI=true anything that could not run counts as failed.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureServices } from "./services.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const isCi = !["", "0", "false", undefined].includes(process.env.CI);
const quietTurbo = { TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };

const STEPS = [
  { name: "lint", command: [bin("biome"), "check", "--error-on-warnings", "."] },
  { name: "build", command: [process.execPath, "scripts/setup.mjs"] },
  { name: "types of the tests", command: [bin("tsc"), "-p", "test/tsconfig.json"] },
  ...["examples/express-app", "examples/koa-app", "examples/swap-storage", "bench"].map((folder) => ({
    name: `types of ${folder}`,
    command: [bin("tsc"), "-p", folder],
  })),
  {
    name: "shape of the packages",
    command: [bin("turbo"), "run", "lint:package", "--output-logs=errors-only"],
  },
  {
    name: "types of the packages",
    command: [bin("turbo"), "run", "lint:types", "--output-logs=errors-only"],
  },
];

let running = null;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    running?.kill(signal);
    process.exit(1);
  });
}

let passed = 0;
const failed = [];
const skipped = [];

for (const { name, command } of STEPS) {
  const began = Date.now();
  const { status, output } = await run(command, { env: quietTurbo, quiet: true });
  const seconds = `${((Date.now() - began) / 1000).toFixed(1)} s`;
  if (status === 0) {
    passed += 1;
    console.log(`✓ ${name} (${seconds})`);
  } else {
    failed.push(name);
    console.log(`✗ ${name} (${seconds})\n${output}`);
  }
}
const { environment, missing } = ensureServices();
for (const { name, reason } of missing) skipped.push(`${name}: ${reason}`);
await runTests(environment);
report();

async function runTests(env) {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-run-"));
  const file = join(directory, "report.json");
  const { status } = await run(
    [
      ...[bin("vitest"), "run", "--config", "test/vitest.config.ts"],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${file}`],
    ],
    { env, quiet: false },
  );
  const before = failed.length;
  try {
    for (const suite of JSON.parse(readFileSync(file, "utf8")).testResults) count(suite);
    // An error outside every test, which no test result reports.
    if (status !== 0 && failed.length === before) failed.push(`vitest ended with status ${status}`);
  } catch (error) {
    failed.push(`vitest left no report: ${error.message}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function count({ name, status, assertionResults }) {
  const title = (test) => `${relative(root, name)} > ${test.fullName}`;
  const failures = assertionResults.filter((test) => test.status === "failed");
  failed.push(...failures.map(title));
  passed += assertionResults.filter((test) => test.status === "passed").length;
  const others = assertionResults.filter((test) => !["passed", "failed"].includes(test.status));
  skipped.push(...others.map(title));
  // A file that cannot be loaded, or a hook that failed.
  if (status === "failed" && failures.length === 0) failed.push(relative(root, name));
}

function report() {
  if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map((line) => `  ${line}`).join("\n")}`);
  if (isCi) failed.push(...skipped.splice(0));
  if (failed.length > 0) console.log(`\nFailed:\n${failed.map((line) => `  ${line}`).join("\n")}`);
  const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`\n${passed} passed, ${failed.length} failed${rest}`);
  if (failed.length > 0) process.exitCode = 1;
}

/** Quiet: the output is returned instead of printed. */
function run([command, ...args], { env, quiet }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    running = child;
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ status: null, output: `${command}: ${error.message}` }));
    child.on("close", (status, signal) => resolve({ status: status ?? signal, output }));
  });
}

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}
