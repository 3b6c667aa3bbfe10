import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./listen.ts";
import { programs, run } from "./programs.ts";

export interface PostgresOptions {
  /** As on its command line: `name=value`. */
  settings?: readonly string[];
  /** Port of a running server, of which it becomes a standby. @default none: a new, empty server */
  standbyOf?: number;
}

/** A PostgreSQL server of the test's own, on the loopback, in a temporary directory. */
export interface PostgresServer {
  /** `postgres://test@127.0.0.1:port/postgres` */
  url: string;
  port: number;
  /** Makes a database and gives its address. */
  createDatabase(name: string): Promise<string>;
  /** Runs a statement and gives what it prints: rows as lines, columns parted by `|`. */
  sql(statement: string, database?: string): Promise<string>;
  /** Sends a signal to the server and all that work for it: SIGSTOP hangs them, SIGCONT lets them go on. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Ends it and all that work for it at once, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port and its data. */
  start(): Promise<void>;
  /** Ends it and removes its directory. */
  close(): Promise<void>;
}

const START_MS = 100_000;

/** Starts a server that does not wait for disks, but keeps what it acknowledged when it is killed. Resolves when it answers. */
export async function startPostgres({
  settings = [],
  standbyOf,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-postgres-"));
  const data = join(directory, "data");
  // A link to it stands where its other programs may not.
  const binaries = dirname(await realpath(programs.postgres));
  // Its programs refuse to run as root; its Debian package makes a user for them.
  const user = process.getuid?.() === 0 ? await postgresUser() : undefined;
  if (user !== undefined) await chown(directory, user.uid, user.gid);
  let port = 0;
  let server: ChildProcess | undefined;

  async function psql(statement: string, database = "postgres"): Promise<string> {
    const { stdout, stderr, status } = await run(join(binaries, "psql"), [
      ...["-h", "127.0.0.1", "-p", String(port), "-U", "test", "-d", database],
      ...["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement],
    ]);
    if (status !== 0) throw new Error(`psql: ${stdout.toString()}${stderr}`);
    return stdout.toString().trim();
  }

  async function start(deadline = Date.now() + START_MS): Promise<void> {
    const log: Buffer[] = [];
    const child = spawn(
      programs.postgres,
      [
        ...["-D", data, "-p", String(port), "-k", directory],
        ...["listen_addresses=127.0.0.1", "fsync=off", "full_page_writes=off", ...settings].flatMap(
          (setting) => ["-c", setting],
        ),
        ...["-c", "max_connections=100"],
      ],
      { stdio: ["ignore", "ignore", "pipe"], cwd: directory, ...user },
    );
    server = child;
    child.stderr.on("data", (bytes: Buffer) => log.push(bytes));
    // Where it cannot even be started, what follows tells.
    child.on("error", () => {});
    for (;;) {
      const answer = await psql("SELECT 1").catch(String);
      if (answer === "1") return;
      if (child.exitCode !== null || child.pid === undefined || Date.now() > deadline) {
        // A process that was made while its server was killed ends a moment later.
        const isOccupied = Buffer.concat(log).includes("pre-existing shared memory block");
        if (isOccupied && Date.now() < deadline) return await start(deadline);
        throw new Error(`The PostgreSQL server does not start: ${Buffer.concat(log)}`);
      }
      await delay(50);
    }
  }

  async function isRunning(child: ChildProcess | undefined): Promise<boolean> {
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** The server and the processes that it has made. */
  async function processes(): Promise<number[]> {
    const pid = server?.pid;
    if (pid === undefined || !(await isRunning(server))) return [];
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    return [pid, ...children.split(" ").filter(Boolean).map(Number)];
  }

  async function signal(name: NodeJS.Signals): Promise<void> {
    for (const pid of await processes()) {
      try {
        process.kill(pid, name);
      } catch (error) {
        // One that ended by itself meanwhile needs no signal.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  async function kill(): Promise<void> {
    const child = server;
    if (child === undefined || !(await isRunning(child))) return;
    const gone = once(child, "exit");
    await signal("SIGKILL");
    await gone;
  }

  const [maker, args] =
    standbyOf === undefined
      ? ["initdb", ["-U", "test", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"]]
      : [
          "pg_basebackup",
          ["-h", "127.0.0.1", "-p", String(standbyOf), "-U", "test", "-R", "-X", "stream", "-N"],
        ];
  const trouble = await runAs(user, join(binaries, maker), ["-D", data, ...args]);
  if (trouble !== null) throw new Error(`${maker}: ${trouble}`);
  // Another process may take the port before the server does.
  for (let attempt = 1; ; attempt++) {
    port = await freePort();
    try {
      await start();
      break;
    } catch (error) {
      await kill();
      if (attempt === 3) throw error;
    }
  }

  return {
    url: `postgres://test@127.0.0.1:${port}/postgres`,
    port,
    async createDatabase(name) {
      await psql(`CREATE DATABASE "${name}"`);
      return `postgres://test@127.0.0.1:${port}/${name}`;
    },
    sql: psql,
    signal,
    kill,
    start: () => start(),
    async close() {
      await signal("SIGCONT");
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const passwd = await readFile("/etc/passwd", "utf8");
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(passwd) ?? [];
  if (uid === undefined) throw new Error("There is no user postgres, which PostgreSQL could run as.");
  return { uid: Number(uid), gid: Number(gid) };
}

/** @returns what went wrong, or `null`. */
async function runAs(
  user: { uid: number; gid: number } | undefined,
  program: string,
  args: readonly string[],
): Promise<string | null> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], cwd: "/", ...user });
  const said: Buffer[] = [];
  child.stderr.on("data", (bytes: Buffer) => said.push(bytes));
  const [status] = await once(child, "close");
  return status === 0 ? null : Buffer.concat(said).toString();
}
