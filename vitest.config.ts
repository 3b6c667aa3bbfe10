import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Above 4 s of CPU time, or with a browser, a database, or a render process outside of packages/imaging. */
const LONG = ".long.test.ts";
const NIGHTLY = ".nightly.test.ts";
const cores = Math.max(2, availableParallelism());
const root = fileURLToPath(new URL(".", import.meta.url));

/** Set by scripts/test.mjs: the packages are resolved as users get them, from `dist`. */
const usesBuild = process.env.OUTRIGGER_TEST_BUILD === "1";
const tier = process.env.OUTRIGGER_TEST_TIER;
const isSoak = process.env.OUTRIGGER_SOAK === "1";
const isNamed = (end: string) => process.argv.some((argument) => argument.includes(end.slice(0, -8)));
/** `npm test -- --all`, `npm run soak`, or a long file that the command line names. */
const isAll = tier === "all" || isSoak || isNamed(LONG);
/** `npm test -- --nightly`, `npm run soak`, or a nightly file that the command line names. */
const isNightly = tier === "nightly" || isSoak || isNamed(NIGHTLY);

/** Files that take a minute or more on two cores, the slowest first. */
const SLOWEST = [
  "test/fidelity/fidelity.nightly.test.ts",
  "test/documents/guides.long.test.ts",
  "packages/sql/src/{blobs/pgbouncer,transfer/import-kill}.long.test.ts",
  "test/backends.long.test.ts",
  "test/reliability/many-nodes-renders.long.test.ts",
  "test/reliability/slow-clients.nightly.test.ts",
  "test/reliability/many-nodes-requests.long.test.ts",
  "test/reliability/many-nodes-take-down.long.test.ts",
];
/** Long files that take a part of their hosts, storages or samples in a full run (`partOf`), and all of them in a nightly run. */
const IN_PARTS = [
  "packages/{express/src/express,koa/src/koa}.long.test.ts",
  "packages/page-index/src/crawl/crawl-kill.long.test.ts",
  "packages/s3/src/s3-blob-store.long.test.ts",
  "packages/sql/src/transfer/import-kill.long.test.ts",
  "test/backends.long.test.ts",
  "test/backends/serve.long.test.ts",
  "test/hostile/{{odd-files,resumable}.long,requests}.test.ts",
  "test/reliability/{many-nodes-*,model}.long.test.ts",
];
const ALL = ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"];
const LONG_FILES = ALL.map((path) => path.replace(".test.ts", LONG));
const NIGHTLY_FILES = ALL.map((path) => path.replace(".test.ts", NIGHTLY));
const leftOut = [...(isAll ? [] : LONG_FILES), ...(isNightly ? [] : NIGHTLY_FILES)];
/**
 * Files that share no process with others: they replace a module of Node, test what a module remembers, run or count all timers,
 * or count descriptors, child processes or bytes of their own process.
 */
const ALONE = [
  "packages/client/src/request.test.ts",
  "packages/core/src/images/renditions/rendition-cache.test.ts",
  "packages/core/src/stores/fs/fs-due-index.long.test.ts",
  "packages/core/src/stores/system-temporary.test.ts",
  "packages/imaging/src/pool/{child-worker,process-group,worker-pool}.long.test.ts",
  "packages/imaging/src/pool/sandbox/sandbox.long.test.ts",
  "packages/imaging/src/worker/pdf/substitute-fonts.test.ts",
  "packages/imaging/src/{fonts,hostile,language,process-lifetime}.long.test.ts",
  "packages/page-index/src/crawl/crawl-bounds.long.test.ts",
  "packages/redis/src/blobs/redis-pieces.long.test.ts",
  "packages/s3/src/s3-blob-store.long.test.ts",
  "packages/verifier/src/host-budget.test.ts",
  "test/backends.long.test.ts",
  "test/hostile/{bombs,health,multipart,parameters,types}.long.test.ts",
  "test/large-bodies.long.test.ts",
  NIGHTLY_FILES,
].flat();

/**
 * Starts the files that run alone first, then the slowest, the other long ones, and the quick ones, so that no worker is left alone
 * with a slow file at the end. A worker ends where a file of another project follows, so the projects do not alternate.
 */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.config.isolate) return -1;
      const slow = SLOWEST.findIndex((path) => moduleId === `${root}${path}`);
      return slow !== -1 ? slow : SLOWEST.length + (moduleId.endsWith(LONG) ? 0 : 1);
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  resolve: { alias: usesBuild ? [] : sourceAliases() },
  test: {
    globalSetup: [...(usesBuild ? [] : ["test/support/build.ts"]), "test/support/shared-servers.ts"],
    server: { deps: { external: usesBuild ? [/\/packages\/\w+\/dist\//] : [] } },
    setupFiles: ["test/support/run-hooks.ts"],
    // One limit for all, which a busy machine does not reach either. A soak repeats a test for hours.
    testTimeout: isSoak ? 4 * 3_600_000 : 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: SlowestFirst },
    // Most tests wait for processes and clocks, so two workers more than cores keep all cores busy.
    maxWorkers: cores + 2,
    projects:
      tier === "nightly"
        ? [project("nightly", { isolate: true, include: [...NIGHTLY_FILES, ...IN_PARTS], exclude: [] })]
        : [
            // Files of a worker share its process and modules, which halves the CPU time. Helpers register hooks in test/support/hooks.ts.
            project("shared", { isolate: false, exclude: [...ALONE, ...leftOut] }),
            project("alone", { isolate: true, include: ALONE, exclude: leftOut }),
          ],
  },
});

function project(name: string, test: { isolate: boolean; include?: string[]; exclude: string[] }) {
  return {
    extends: true as const,
    test: { name, include: ALL, ...test, exclude: ["**/node_modules/**", ...test.exclude] },
  };
}

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
