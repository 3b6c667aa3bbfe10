import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface StartedProcess {
  child: ChildProcess;
  /** The text that `announcement` matched. */
  announced: string;
  /** Standard output so far. */
  output(): string;
  isAlive(): boolean;
  /** The exit code, or the name of the signal that ended the process. */
  exit: Promise<number | NodeJS.Signals | null>;
  /** Sends SIGKILL and waits for the end. A second call does nothing. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** The program, with arguments before those of the call. @default the running Node */
  program?: readonly string[];
  cwd?: string;
  /** Environment in addition to PATH. */
  env?: NodeJS.ProcessEnv;
  /** The output that the start waits for. @default an `http:` address */
  announcement?: RegExp;
}

/**
 * Starts a program with `args` and waits until the process has announced itself. A script is given by its URL. Rejects with the
 * standard error if the process ends before. The standard input stays open until the process that called this ends.
 */
export async function startProcess(
  args: readonly (string | URL)[],
  {
    program: [file = "", ...first] = [process.execPath],
    cwd,
    env = {},
    announcement = /http:\S+(?=\s)/,
  }: StartOptions = {},
): Promise<StartedProcess> {
  const paths = args.map((argument) => (argument instanceof URL ? fileURLToPath(argument) : argument));
  const child = spawn(file, [...first, ...paths], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: "pipe",
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const exit = once(child, "close").then(([code, signal]) => code ?? signal);
  while (!announcement.test(output)) {
    const hasEnded = await Promise.race([
      once(child.stdout, "data").then(() => false),
      exit.then(() => true),
    ]);
    if (hasEnded && !announcement.test(output)) {
      throw new Error(`The process ended before it announced itself:\n${output}${errors}`);
    }
  }
  return {
    child,
    announced: announcement.exec(output)?.[0] ?? "",
    output: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    exit,
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
