import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds what is missing or stale before the tests: processes that tests start run `dist`. Takes 0.1 s when nothing changed. */
export default function build(): void {
  const setup = fileURLToPath(new URL("../../scripts/setup.mjs", import.meta.url));
  const { status } = spawnSync(process.execPath, [setup], { stdio: "inherit" });
  if (status !== 0) throw new Error("The build failed: see above");
}
