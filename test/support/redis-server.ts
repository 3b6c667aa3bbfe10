import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./listen.ts";
import { programs, run } from "./programs.ts";

/** A Redis server of the test's own, on the loopback, in a temporary directory. */
export interface RedisServer {
  port: number;
  /** `redis://127.0.0.1:port` */
  url: string;
  /** Runs a command by redis-cli and gives what it prints. Rejects where it fails. */
  cli(...args: string[]): Promise<string>;
  /** Sends a signal to the server: SIGSTOP hangs it, SIGCONT lets it go on. */
  signal(name: NodeJS.Signals): void;
  /** Ends it as a power cut would, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port and its data. */
  start(): Promise<void>;
  /** Ends it and removes its directory. */
  close(): Promise<void>;
}

export interface RedisServerOptions {
  /** More of the server's options, such as `["--maxmemory", "8mb"]`. */
  args?: readonly string[];
  /** Whether it keeps what it has acknowledged. @default false */
  appendOnly?: boolean;
  /** What redis-cli gives as the password. */
  password?: string;
  /** Content of the RDB file that it begins with. @default it begins empty */
  dump?: Uint8Array;
}

const START_MS = 100_000;

/** Starts a server that keeps nothing on disk unless told to. Resolves when it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { args = [], appendOnly = false, password, dump } = options;
  const directory = await mkdtemp(join(tmpdir(), "outrigger-redis-"));
  if (dump !== undefined) await writeFile(join(directory, "dump.rdb"), dump);
  let port = 0;
  let server: ChildProcess | undefined;

  async function cli(...words: string[]): Promise<string> {
    const login = password === undefined ? [] : ["--no-auth-warning", "-a", password];
    const { stdout, stderr, status } = await run(join(dirname(programs.redisServer), "redis-cli"), [
      ...["-e", "-p", String(port)],
      ...login,
      ...words,
    ]);
    if (status !== 0) throw new Error(`redis-cli: ${stdout.toString()}${stderr}`);
    return stdout.toString().trim();
  }

  async function start(): Promise<void> {
    const child = spawn(
      programs.redisServer,
      [
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--logfile", "redis.log"],
        // By default, Redis answers up to two seconds before it writes while the disk is busy.
        ...["--save", "", "--appendonly", appendOnly ? "yes" : "no", "--appendfsync", "always"],
        ...args,
      ],
      { stdio: "ignore" },
    );
    server = child;
    // Where it cannot even be started, what follows tells.
    child.on("error", () => {});
    const deadline = Date.now() + START_MS;
    for (;;) {
      // One that was refused has been answered all the same.
      const answer = await cli("PING").catch(String);
      if (/PONG|NOAUTH/.test(answer)) return;
      if (child.exitCode !== null || child.pid === undefined || Date.now() > deadline) {
        const log = await readFile(join(directory, "redis.log"), "utf8").catch(String);
        throw new Error(`The Redis server does not start: ${log}`);
      }
      await delay(20);
    }
  }

  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  }

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
    port,
    url: `redis://127.0.0.1:${port}`,
    cli,
    signal: (name) => server?.kill(name),
    kill,
    start,
    async close() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Three masters, each with a third of the slots. */
export interface RedisCluster {
  urls: string[];
  nodes: RedisServer[];
  close(): Promise<void>;
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: 3 }, startClusterNode));
  const close = async () => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    await nodes[0]?.cli("--cluster", "create", ...addresses, "--cluster-replicas", "0", "--cluster-yes");
    const deadline = Date.now() + START_MS;
    for (const node of nodes) {
      while (!(await node.cli("CLUSTER", "INFO")).includes("cluster_state:ok")) {
        if (Date.now() > deadline) throw new Error("The Redis cluster does not come up.");
        await delay(50);
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { urls: nodes.map(({ url }) => url), nodes, close };
}

async function startClusterNode(): Promise<RedisServer> {
  const busPort = await freePort();
  return await startRedis({
    args: ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-node-timeout", "2000"],
  });
}
