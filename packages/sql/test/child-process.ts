import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A separate process that uses the built package. */
export interface ScriptProcess {
  child: ChildProcess;
  /** The standard output, once the process has ended. Rejects if it failed. */
  output: Promise<string>;
}

/** Runs an ES module given as text. `@outrigger/sql` is the built package. */
export function runScript(script: string, args: readonly string[] = []): ScriptProcess {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script, "--", ...args], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(
    ([stdout, stderr, [status]]) => {
      if (status !== 0) throw new Error(`The process ended with ${String(status)}: ${stderr}`);
      return stdout;
    },
  );
  output.catch(() => undefined); // A killed process fails; a caller that awaits the output receives the error.
  return { child, output };
}
