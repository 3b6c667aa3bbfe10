import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StartError } from "../../../config/config-error.ts";

/** A call of a PostgreSQL program on a database. */
export interface PostgresCall {
  program: "pg_dump" | "pg_restore";
  args: readonly string[];
  /** `postgres://…`; the password is passed in the environment, which other users cannot read. */
  url: string;
}

const MAX_SAID = 2_000;

/** The standard output of the program. The stream fails if the program fails. */
export async function* outputOf(call: PostgresCall): AsyncGenerator<Buffer> {
  const { child, ended } = start(call);
  child.stdin?.end();
  try {
    for await (const chunk of child.stdout ?? []) yield chunk as Buffer; // No encoding is set.
    await ended();
  } finally {
    child.kill();
  }
}

/** Pipes `input` to the program. Rejects if the program fails. */
export async function feed(call: PostgresCall, input: Readable): Promise<void> {
  const { child, ended } = start(call);
  child.stdout?.resume();
  // If the program ends early, its exit reports the reason.
  const fed = child.stdin === null ? null : pipeline(input, child.stdin).catch(() => undefined);
  await Promise.all([ended(), fed]);
}

/** @returns the process, and a function that resolves when it has succeeded. */
function start({ program, args, url }: PostgresCall): { child: ChildProcess; ended(): Promise<void> } {
  const bare = new URL(url);
  const password = decodeURIComponent(bare.password);
  bare.password = "";
  const child = spawn(program, [...args, `--dbname=${bare.href}`], {
    stdio: "pipe",
    env: { ...process.env, ...(password === "" ? {} : { PGPASSWORD: password }) },
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, MAX_SAID);
  });
  const failure = new Promise<StartError | null>((resolve) => {
    child.once("error", (cause) => {
      const command = [program, ...args, `--dbname="${bare.href}"`].join(" ");
      const message = `${program} cannot be run. Install the client programs of PostgreSQL, or run this on a machine that has them: ${command}`;
      resolve(new StartError(message, { cause }));
    });
    child.once("close", (code) => {
      const reason = said.trim().replaceAll(/\s*\n\s*/g, "; ");
      resolve(code === 0 ? null : new StartError(`${program} failed: ${reason}`));
    });
  });
  const ended = async () => {
    const error = await failure;
    if (error !== null) throw error;
  };
  return { child, ended };
}
