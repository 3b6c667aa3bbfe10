import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./listen.ts";
import { programs } from "./programs.ts";

/** PgBouncer before a PostgreSQL server of a test. */
export interface PgBouncer {
  /** `postgres://test@127.0.0.1:port/postgres` */
  url: string;
  /** Leads all clients to another server. Their connections stay, as after a fail-over. */
  leadTo(port: number): Promise<void>;
  /** Ports of its clients, which tell their connections apart. */
  clientPorts(): Promise<number[]>;
  close(): Promise<void>;
}

const START_MS = 100_000;

/**
 * Starts PgBouncer in transaction mode: each transaction may run on another connection to the server.
 * @param port of the server
 */
export async function startPgBouncer(port: number): Promise<PgBouncer> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-pgbouncer-"));
  const [own, users, file] = [await freePort(), join(directory, "users"), join(directory, "pgbouncer.ini")];
  await writeFile(users, '"test" ""\n');
  const configure = (serverPort: number) =>
    writeFile(
      file,
      `[databases]
* = host=127.0.0.1 port=${serverPort} user=test
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
admin_users = test
`,
    );
  await configure(port);
  // It refuses to run as root, and its user must read the files.
  await chmod(directory, 0o755);
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const child = spawn(programs.pgbouncer, [...user, file], { stdio: ["ignore", "ignore", "pipe"] });
  const log: Buffer[] = [];
  child.stderr.on("data", (bytes: Buffer) => log.push(bytes));
  child.on("error", () => {}); // The deadline below reports it.
  const deadline = Date.now() + START_MS;
  while (!(await answers(own))) {
    if (child.exitCode !== null || child.pid === undefined || Date.now() > deadline) {
      await end(child, directory);
      throw new Error(`PgBouncer does not start: ${Buffer.concat(log)}`);
    }
    await delay(50);
  }
  async function admin(...statements: string[]): Promise<pg.QueryResult[]> {
    const client = new pg.Client({ connectionString: `postgres://test@127.0.0.1:${own}/pgbouncer` });
    await client.connect();
    try {
      const results: pg.QueryResult[] = [];
      for (const statement of statements) results.push(await client.query(statement));
      return results;
    } finally {
      await client.end();
    }
  }

  return {
    url: `postgres://test@127.0.0.1:${own}/postgres`,
    async leadTo(serverPort) {
      await configure(serverPort);
      await admin("RELOAD", "RECONNECT");
    },
    async clientPorts() {
      const [clients] = await admin("SHOW CLIENTS");
      return (clients?.rows ?? []).filter((row) => row.database === "postgres").map((row) => row.port);
    },
    close: () => end(child, directory),
  };
}

async function end(child: ChildProcess, directory: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
  await rm(directory, { recursive: true, force: true });
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ host: "127.0.0.1", port });
  const isThere = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isThere;
}
