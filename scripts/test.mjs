// `npm test`: everything that has to be true of this checkout. It installs, checks and builds, finds the services, and runs the
// tests. `--all` adds the long test files and the package checks. `--nightly` runs the nightly test files alone. `--soak` runs the
// tests of reliability at full length, which takes hours. Other arguments go to Vitest, such as the path of a test file.
// The last line counts all checks and tests. With CI=true a test that could not run counts as failed.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const isCi = !["", "0", "false", undefined].includes(process.env.CI);
const TIERS = { "--all": "all", "--nightly": "nightly", "--soak": "soak" };
const tier = TIERS[process.argv.find((argument) => argument in TIERS)] ?? "quick";
const given = process.argv.slice(2).filter((argument) => !(argument in TIERS));
const soakMs = 4 * 3_600_000;
const vitestArguments =
  tier === "soak"
    ? [
        "--no-file-parallelism",
        `--testTimeout=${soakMs}`,
        ...(given.length > 0 ? given : ["test/reliability/"]),
      ]
    : given;
const tierVariable = tier === "soak" ? { OUTRIGGER_SOAK: "1" } : { OUTRIGGER_TEST_TIER: tier };
const quietTurbo = { TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };

const DEPENDENCIES = {
  name: "dependencies",
  command: [process.execPath, "scripts/setup.mjs", "--install-only"],
};
const BUILD = { name: "build", command: [process.execPath, "scripts/setup.mjs"] };
const LINT = { name: "lint", command: [bin("biome"), "check", "--error-on-warnings", "."] };

const EXAMPLES = ["express-app", "koa-app", "swap-storage", "lookup-only"].map((name) => `examples/${name}`);

/** Checks that `--all` alone makes, for they take some minutes of CPU: of our types, and of the packages as they are published. */
const LONG_CHECKS = [
  ["test", "bench", ...EXAMPLES].map((folder) => ({
    name: `types of ${folder}`,
    command: [bin("tsc"), "-p", folder],
  })),
  [
    { name: "types of the packages", command: turbo("lint:types") },
    { name: "shape of the packages", command: turbo("lint:package") },
  ],
];

const began = Date.now();
/** Seconds by the name of a step, in the order in which the steps ended. */
const seconds = new Map();
const children = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
    process.exit(1);
  });
}

let passed = 0;
const failed = [];
const skipped = [];

// Services come from the network when they are missing, so they do not wait for the checks.
const [environment] = await Promise.all([findServices(), runChecks()]);
if (seconds.has("build")) await runTests();
else failed.push("The tests did not run, because the packages are not built");
report();

async function runChecks() {
  if (!(await runCheck(DEPENDENCIES))) return;
  // Each check keeps about one core busy: two at a time.
  const isStyleChecked = tier === "quick" || tier === "all";
  await Promise.all([isStyleChecked && runCheck(LINT), runBuild()]);
}

async function runBuild() {
  if (!(await runCheck(BUILD)) || tier !== "all") return;
  const inTurn = async (checks) => {
    for (const check of checks) await runCheck(check);
  };
  await Promise.all(LONG_CHECKS.map(inTurn));
}

async function runCheck({ name, command }) {
  const { status, output } = await timed(name, () => run(command, { env: quietTurbo }));
  if (status === 0) {
    passed += 1;
    console.log(`✓ ${name} (${seconds.get(name).toFixed(1)} s)`);
    return true;
  }
  seconds.delete(name);
  failed.push(name);
  console.log(`✗ ${name}\n${output}`);
  return false;
}

/** Returns the variables that name the services. A service that is missing counts as skipped. */
async function findServices() {
  const { status, output } = await timed("services", () =>
    run([process.execPath, "scripts/services.mjs"], { showErrors: true }),
  );
  if (status !== 0) {
    failed.push(`services: ${output}`);
    return {};
  }
  const { environment, missing } = JSON.parse(output);
  console.log(`✓ services (${seconds.get("services").toFixed(1)} s)`);
  for (const { name, reason } of missing) skipped.push(`${name}: ${reason}`);
  return environment;
}

async function runTests() {
  const before = failed.length;
  const { status, suites } = await timed("tests", runVitest);
  for (const suite of suites) countTests(suite);
  // An error outside of all tests belongs to no test's result.
  if (status !== 0 && failed.length === before) failed.push(`vitest ended with status ${status}`);
}

/** Counts the tests of a file: one of `testResults` in Vitest's JSON report. */
function countTests({ name, status, assertionResults }) {
  const file = relative(root, name);
  const lists = { passed: [], failed: [] };
  for (const test of assertionResults) (lists[test.status] ?? skipped).push(`${file} > ${test.fullName}`);
  // A file that could not be loaded, or a hook that failed.
  if (status === "failed" && lists.failed.length === 0) lists.failed.push(file);
  passed += lists.passed.length;
  failed.push(...lists.failed);
}

/** Runs test files against `dist`, which is what users get. */
async function runVitest() {
  const directory = mkdtempSync(join(tmpdir(), "outrigger-run-"));
  const file = join(directory, "report.json");
  const { status } = await run(
    [
      bin("vitest"),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      ...vitestArguments,
    ],
    { env: { ...environment, OUTRIGGER_TEST_BUILD: "1", ...tierVariable }, show: true },
  );
  try {
    return { status, suites: JSON.parse(readFileSync(file, "utf8")).testResults };
  } catch (error) {
    failed.push(`vitest left no report: ${error.message}`);
    return { status, suites: [] };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function report() {
  if (skipped.length > 0) show("Skipped", skipped);
  if (isCi) failed.push(...skipped.splice(0));
  if (failed.length > 0) show("Failed", failed);
  const total = (Date.now() - began) / 1000;
  const steps = [...seconds, ["total", total]].map(
    ([name, duration]) => `${duration.toFixed(1).padStart(7)} s  ${name}`,
  );
  show("Time, where steps overlap", steps);
  show("CPU time of all processes", [`${cpuSeconds().toFixed(0).padStart(5)} s`]);
  const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`\n${passed} passed, ${failed.length} failed${rest}`);
  if (failed.length > 0) process.exitCode = 1;
}

/** User and system time of this process and of all that it waited for, proc(5); a tick is 10 ms. */
function cpuSeconds() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
}

function show(title, lines) {
  console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

async function timed(name, work) {
  const start = Date.now();
  const result = await work();
  seconds.set(name, (Date.now() - start) / 1000);
  return result;
}

/** Returns the output, or passes it on with `show`. `showErrors` passes on the standard error alone. */
function run([command, ...args], { env = {}, show = false, showErrors = false }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: show ? "inherit" : ["ignore", "pipe", showErrors ? "inherit" : "pipe"],
    });
    children.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve({ status: null, output: `${command}: ${error.message}` }));
    child.on("close", (status, signal) => {
      children.delete(child);
      resolve({ status: status ?? signal, output });
    });
  });
}

function turbo(task) {
  return [bin("turbo"), "run", task, "--output-logs=errors-only"];
}

function bin(name) {
  return join(root, "node_modules", ".bin", name);
}
