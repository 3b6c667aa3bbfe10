import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The Node that runs the processes of a renderer. */
export type NodeProgram = ReturnType<typeof running>;

const CURE = 'Install Node 20.19 or newer, or set node: "/path/to/node"';

/**
 * The Node at `given`. By default the running one, or the first on the PATH under Bun and Deno, whose executables cannot run a decoder.
 * Throws `Error` if there is none, or if it does not run or is too old.
 */
export function nodeProgram(given?: string): NodeProgram {
  const own = realpathSync(process.execPath);
  const { bun, deno } = process.versions;
  const isNode = bun === undefined && deno === undefined;
  const path = given ?? (isNode ? own : onPath(own));
  if (path === undefined) {
    const host = bun === undefined ? "Deno" : "Bun";
    throw new Error(
      `createRenderer: render processes need Node, but under ${host} the PATH has none. ${CURE}`,
    );
  }
  if (isNode && realpathSync(path) === own) return running();
  try {
    return started(path);
  } catch (cause) {
    throw new Error(`createRenderer: ${path} does not run as Node 20.19 or newer. ${CURE}`, { cause });
  }
}

/** The first `node` on the PATH. `bun --bun` puts a link to itself there. */
function onPath(own: string): string | undefined {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const paths = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => existsSync(path) && realpathSync(path) !== own);
}

/** The Node of this process. */
export function running() {
  const read = (path: string) => (existsSync(path) ? readFileSync(path, "latin1") : "");
  return {
    path: realpathSync(process.execPath),
    /** Options that it knows and that `NODE_OPTIONS` may hold. */
    flags: [...process.allowedNodeEnvironmentFlags],
    // Empty without `/proc`.
    ...{ maps: read("/proc/self/maps"), status: read("/proc/self/status") },
  };
}

/** What another Node says of itself, by this module. A shim of a version manager names the real executable. */
function started(path: string): NodeProgram {
  const code = `import { running } from ${JSON.stringify(import.meta.url)};
    const { bun, deno, node } = process.versions;
    process.stdout.write(JSON.stringify({ ...running(), version: bun || deno ? "0" : node }));`;
  const env = { ...process.env, NODE_OPTIONS: "" };
  // It takes 0.1 s.
  const output = execFileSync(path, ["--input-type=module", "--eval", code], { env, timeout: 10_000 });
  const { version, ...program } = JSON.parse(output.toString());
  const [major, minor] = version.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new Error(`It is Node ${version}.`);
  return program;
}
