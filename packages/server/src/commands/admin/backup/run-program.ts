import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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

/** The call as typed in a shell, without the password. */
export function commandText({ program, args, url }: PostgresCall): string {
  return [program, ...args, `--dbname="${withoutPassword(url)}"`].join(" ");
}

/** The standard output of the program. The stream fails if the program fails. */
export async function* outputOf(call: PostgresCall): AsyncGenerator<Buffer> {
  const child = start(call);
  child.stdin?.end();
  try {
    for await (const chunk of child.stdout ?? []) yield chunk as Buffer; // No encoding is set.
    await ended(call, child);
  } finally {
    child.kill();
  }
}

/** Pipes `input` to the program. Rejects if the program fails. */
export async function feed(call: PostgresCall, input: Readable): Promise<void> {
  const child = start(call);
  child.stdout?.resume();
  const done = ended(call, child);
  // If the program ends early, its exit reports the reason.
  const fed = child.stdin === null ? Promise.resolve() : pipeline(input, child.stdin).catch(() => undefined);
  await Promise.all([done, fed]);
}

const failures = new WeakMap<ChildProcess, Promise<Error | null>>();

function start(call: PostgresCall): ChildProcess {
  const { password } = new URL(call.url);
  const child = spawn(call.program, [...call.args, `--dbname=${withoutPassword(call.url)}`], {
    stdio: "pipe",
    env: { ...process.env, ...(password === "" ? {} : { PGPASSWORD: decodeURIComponent(password) }) },
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, MAX_SAID);
  });
  const failure = Promise.race([
    once(child, "close").then(([code]) =>
      code === 0 ? null : new StartError(`${call.program} failed: ${oneLine(said)}`),
    ),
    once(child, "error").then(([error]) => missing(call, error)),
  ]).catch((error) => missing(call, error));
  failures.set(child, failure);
  return child;
}

async function ended(call: PostgresCall, child: ChildProcess): Promise<void> {
  const failure = await failures.get(child);
  if (failure !== null) throw failure ?? new Error(`${call.program} was not started`);
}

function missing(call: PostgresCall, cause: unknown): StartError {
  return new StartError(
    `${call.program} cannot be run. Install the client programs of PostgreSQL, or run this on a machine that has them: ${commandText(call)}`,
    { cause },
  );
}

function oneLine(text: string): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join("; ");
}

function withoutPassword(url: string): string {
  const bare = new URL(url);
  bare.password = "";
  return bare.href;
}
