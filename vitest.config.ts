import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const LONG = ".long.test.ts";
const root = fileURLToPath(new URL(".", import.meta.url));

/** Set by scripts/test.mjs and scripts/soak.mjs: the packages are resolved as users get them, from `dist`. */
const usesBuild = process.env.OUTRIGGER_TEST_BUILD === "1";
/** `npm test -- --all`, `npm run soak`, or a long file that the command line names. */
const isAll =
  process.env.OUTRIGGER_TEST_ALL === "1" ||
  process.env.OUTRIGGER_SOAK === "1" ||
  process.argv.some((argument) => argument.includes(".long"));

/** Starts the long files first, so that no worker is left alone with one at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (moduleId.endsWith(LONG) ? 0 : 1);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  resolve: { alias: usesBuild ? [] : sourceAliases() },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: isAll ? ["**/node_modules/**"] : ["**/node_modules/**", `**/*${LONG}`],
    globalSetup: usesBuild ? [] : ["test/support/build.ts"],
    server: { deps: { external: usesBuild ? [/\/packages\/\w+\/dist\//] : [] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many tests wait for processes and clocks, so one worker more than cores keeps all cores busy. Long ones time faults and need a core.
    maxWorkers: Math.max(2, availableParallelism() + (isAll ? 0 : 1)),
    sequence: { sequencer: LongFirst },
  },
});

/**
 * Entries of the packages, each with its source file. Imaging keeps its build: its host and its worker processes must be the
 * same code, and Node runs the workers without Vitest.
 */
function sourceAliases(): { find: RegExp; replacement: string }[] {
  const names = readdirSync(`${root}packages`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "imaging")
    .map(({ name }) => name);
  return names.flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(`${root}packages/${folder}/package.json`, "utf8"));
    return Object.keys(exports)
      .filter((entry) => entry !== "./package.json")
      .map((entry) => ({
        find: new RegExp(`^${name}${entry.slice(1)}$`),
        replacement: `${root}packages/${folder}/src/${entry === "." ? "index" : entry.slice(2)}.ts`,
      }));
  });
}
