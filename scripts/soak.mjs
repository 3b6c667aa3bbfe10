// The reliability tests at full length: many kills, every crash point, every fault. Takes hours. Arguments are passed
// to Vitest, so one file can be run alone.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureServices } from "./services.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const TEST_TIMEOUT_MS = 4 * 3_600_000;

const { environment, missing } = ensureServices();
for (const { name, reason } of missing) console.log(`Missing: ${name}: ${reason}`);

const given = process.argv.slice(2);
const child = spawn(
  join(root, "node_modules", ".bin", "vitest"),
  [
    ...["run", "--no-file-parallelism", `--testTimeout=${TEST_TIMEOUT_MS}`],
    ...(given.length === 0 ? ["test/reliability/"] : given),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...environment, OUTRIGGER_TEST_BUILD: "1", OUTRIGGER_SOAK: "1" },
  },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("close", (status) => {
  process.exitCode = status ?? 1;
});
