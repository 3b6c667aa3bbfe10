import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./listen.ts";
import { programs, run } from "./programs.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

/** A Sentinel of the test's own, on the loopback. */
export interface Sentinel {
  port: number;
  /** Runs a command by redis-cli and gives what it prints. */
  cli(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

/** A master, two replicas and three Sentinels, which know it as `main`. */
export interface SentinelSetup {
  /** `redis+sentinel://…/main` */
  url: string;
  servers: RedisServer[];
  sentinels: Sentinel[];
  /** The server that a majority of the Sentinels call the master now. */
  master(): Promise<RedisServer>;
  close(): Promise<void>;
}

export interface SentinelOptions {
  /** `min-replicas-to-write` of all servers. @default 0 */
  minReplicas?: number;
  /** What the Sentinels ask of clients and of each other. @default none */
  sentinelPassword?: string;
  /** Time without an answer after which a master counts as down, in milliseconds. @default 1500 */
  downAfterMs?: number;
}

const PATIENCE_MS = 60_000;

export async function startSentinels(options: SentinelOptions = {}): Promise<SentinelSetup> {
  const minReplicas = ["--min-replicas-to-write", String(options.minReplicas ?? 0)];
  const replication = ["--repl-diskless-sync-delay", "0", "--min-replicas-max-lag", "2"];
  const started: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((each) => each.close()));
  };
  const keep = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const running = await starting;
    started.push(running);
    return running;
  };
  try {
    const first = await keep(startRedis({ args: [...minReplicas, ...replication] }));
    const replicaOf = ["--replicaof", "127.0.0.1", String(first.port)];
    const start = () => keep(startRedis({ args: [...minReplicas, ...replication, ...replicaOf] }));
    const servers = [first, ...(await Promise.all([start(), start()]))];
    const sentinels = await Promise.all([0, 1, 2].map(() => keep(startSentinel(first.port, options))));
    await until("the replicas are online", async () => {
      const replication = await first.cli("INFO", "replication");
      return replication.match(/state=online/g)?.length === 2;
    });
    for (const { cli } of sentinels) {
      await until("the Sentinels know each other and the replicas", async () => {
        const state = await cli("SENTINEL", "MASTER", "main");
        return /num-slaves\n2\n/.test(state) && /num-other-sentinels\n2\n/.test(state);
      });
    }
    return {
      url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/main`,
      servers,
      sentinels,
      async master() {
        const named = await Promise.all(
          sentinels.map(async ({ cli }) => {
            const [, port] = (await cli("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")).split("\n");
            return Number(port);
          }),
        );
        const port = named.find((each) => named.filter((other) => other === each).length > 1);
        const found = servers.find((server) => server.port === port);
        return found ?? first;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Resolves when `isTrue` says so. Rejects after a minute. */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(50);
  }
}

async function startSentinel(masterPort: number, options: SentinelOptions): Promise<Sentinel> {
  const { sentinelPassword, downAfterMs = 1500 } = options;
  const directory = await mkdtemp(join(tmpdir(), "outrigger-sentinel-"));
  const port = await freePort();
  const config = join(directory, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${directory}`,
    "logfile sentinel.log",
    `sentinel monitor main 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds main ${downAfterMs}`,
    "sentinel failover-timeout main 3000",
    ...(sentinelPassword === undefined
      ? []
      : [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`]),
  ];
  await writeFile(config, `${lines.join("\n")}\n`);
  const child: ChildProcess = spawn(programs.redisServer, [config, "--sentinel"], { stdio: "ignore" });
  // Where it cannot be started, what follows tells.
  child.on("error", () => {});
  const login = sentinelPassword === undefined ? [] : ["--no-auth-warning", "-a", sentinelPassword];

  async function cli(...words: string[]): Promise<string> {
    const client = join(dirname(programs.redisServer), "redis-cli");
    const { stdout, stderr, status } = await run(client, ["-e", "-p", String(port), ...login, ...words]);
    if (status !== 0) throw new Error(`redis-cli: ${stdout.toString()}${stderr}`);
    return stdout.toString().trim();
  }

  async function close(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    await rm(directory, { recursive: true, force: true });
  }

  try {
    await until("the Sentinel answers", async () => (await cli("PING").catch(String)) === "PONG");
  } catch (error) {
    await close();
    throw error;
  }
  return { port, cli, close };
}
