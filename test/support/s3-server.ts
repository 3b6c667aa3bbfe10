import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { freePorts } from "./listen.ts";
import { programs, run } from "./programs.ts";

/** A Ceph object gateway. */
export interface S3Access {
  /** `http://127.0.0.1:<port>` */
  endpoint: string;
  port: number;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** A client for what the store does not do; ended by `stop`. */
  client: S3Client;
  /** Makes a bucket, of the user whose keys are given; @returns its name. */
  createBucket(credentials?: S3Access["credentials"]): Promise<string>;
  stop(): Promise<void>;
}

/** A private one, with a cluster of one monitor and one disk in memory. */
export interface S3Server extends S3Access {
  /** The gateway goes on holding its connections and answers nothing. */
  suspend(): void;
  resume(): void;
  /** Ends the gateway at once; what it stored stays. */
  kill(): Promise<void>;
  /** Starts the gateway again, on the same port. */
  start(): Promise<void>;
  /** Runs `radosgw-admin` on the cluster; rejects when it fails. */
  admin(...args: string[]): Promise<void>;
}

export interface S3ServerOptions {
  /** How long the gateway takes a day of a lifecycle rule to be, in seconds. @default a day */
  lifecycleDayS?: number;
}

/** Variable with the address that starts the shared service at its first request, and then tells where it listens. */
export const SHARED_S3 = "OUTRIGGER_TEST_S3";

const READY_MS = 100_000;
const CREDENTIALS = { accessKeyId: "TESTACCESSKEY", secretAccessKey: "test-secret-key" };

/** The service that all test files of a run share, for tests that neither stop nor configure it. */
export async function useS3Server(): Promise<S3Access> {
  const address = process.env[SHARED_S3];
  if (address === undefined) throw new Error(`${SHARED_S3} is not set: Vitest did not run shared-servers.ts`);
  const response = await fetch(address);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  const { endpoint, port, credentials } = JSON.parse(text);
  const client = createClient(endpoint, credentials);
  const stop = async () => client.destroy();
  return { endpoint, port, credentials, client, createBucket: createBucketOf(endpoint), stop };
}

/** Takes 3 to 6 seconds of CPU time. */
export async function startS3Server({ lifecycleDayS }: S3ServerOptions = {}): Promise<S3Server> {
  // Names of sockets have at most 107 characters.
  const directory = await mkdtemp(join(tmpdir(), "rgw-"));
  const children: ChildProcess[] = [];
  const killAll = () => {
    for (const child of children) child.kill("SIGKILL");
  };
  process.once("exit", killAll);

  const config = join(directory, "ceph.conf");
  const path = (program: string) => join(dirname(programs.radosgw), program);
  const launch = async (program: string, ...args: string[]) => {
    const log = await open(join(directory, `${program}.out`), "a");
    const child = spawn(path(program), ["-c", config, ...args], { stdio: ["ignore", log.fd, log.fd] });
    children.push(child);
    await once(child, "spawn");
    await log.close();
    return child;
  };
  const call = async (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = await run(path(program), ["-c", config, ...args]);
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${status}\n${stdout}${stderr}`);
  };

  async function stop(): Promise<void> {
    process.removeListener("exit", killAll);
    for (const child of children) await end(child);
    await rm(directory, { recursive: true, force: true });
  }

  try {
    const [port, ...monitorPorts] = await freePorts(3);
    if (port === undefined) throw new Error("There is no free port");
    const settings = lifecycleDayS === undefined ? "" : `rgw_lc_debug_interval = ${lifecycleDayS}\n`;
    await startCluster(directory, port, settings, monitorPorts, call, launch);
    const user = ["--access-key", CREDENTIALS.accessKeyId, "--secret-key", CREDENTIALS.secretAccessKey];
    await call("radosgw-admin", "user", "create", "--uid=tests", "--display-name=tests", ...user);
    const start = async () => {
      const child = await launch("radosgw", "-n", "client.rgw", "-f");
      await answers(`http://127.0.0.1:${port}`, child, join(directory, "radosgw.out"));
      return child;
    };
    let gateway = await start();
    const endpoint = `http://127.0.0.1:${port}`;
    const client = createClient(endpoint, CREDENTIALS);
    return {
      endpoint,
      port,
      credentials: CREDENTIALS,
      client,
      createBucket: createBucketOf(endpoint),
      suspend: () => void gateway.kill("SIGSTOP"),
      resume: () => void gateway.kill("SIGCONT"),
      kill: () => end(gateway),
      async start() {
        gateway = await start();
      },
      admin: (...args) => call("radosgw-admin", ...args),
      async stop() {
        client.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createBucketOf(endpoint: string): S3Access["createBucket"] {
  return async (credentials = CREDENTIALS) => {
    const owner = createClient(endpoint, credentials);
    const Bucket = `bucket-${randomUUID()}`;
    await owner.send(new CreateBucketCommand({ Bucket }));
    owner.destroy();
    return Bucket;
  };
}

function createClient(endpoint: string, credentials: S3Access["credentials"]): S3Client {
  return new S3Client({
    endpoint,
    region: "us-east-1",
    credentials,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

type Call = (program: string, ...args: string[]) => Promise<void>;

async function startCluster(
  directory: string,
  port: number,
  gatewaySettings: string,
  monitorPorts: readonly number[],
  call: Call,
  launch: (program: string, ...args: string[]) => Promise<ChildProcess>,
): Promise<void> {
  const clusterId = randomUUID();
  const monitor = `[v2:127.0.0.1:${monitorPorts[0]},v1:127.0.0.1:${monitorPorts[1]}]`;
  for (const name of ["run", "mon", "osd", "log", "rgw"]) await mkdir(join(directory, name));
  await writeFile(
    join(directory, "ceph.conf"),
    configuration(directory, clusterId, monitor, port) + gatewaySettings,
  );
  const keyring = join(directory, "keyring");
  const key = (name: string, ...caps: string[]) =>
    call(
      "ceph-authtool",
      keyring,
      "--gen-key",
      "-n",
      name,
      ...caps.flatMap((cap) => ["--cap", ...cap.split("=")]),
    );
  await call("ceph-authtool", "--create-keyring", keyring);
  await key("mon.", "mon=allow *");
  await key("client.admin", "mon=allow *", "osd=allow *", "mgr=allow *");
  await key("client.rgw", "mon=allow rw", "osd=allow rwx");
  await key("osd.0", "mon=allow profile osd", "osd=allow *");
  const map = join(directory, "monmap");
  await call("monmaptool", "--create", "--fsid", clusterId, "--addv", "a", monitor, map);
  await call("ceph-mon", "--mkfs", "-i", "a", "--keyring", keyring, "--monmap", map);
  await launch("ceph-mon", "-i", "a", "-f");
  const disk = randomUUID();
  await writeFile(join(directory, "osd", "keyring"), await readFile(keyring));
  await call("ceph", "--connect-timeout", "30", "osd", "new", disk);
  await call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk);
  await launch("ceph-osd", "-i", "0", "-f");
}

/** Tuned for a short start: by default each pool that is made takes seconds. */
function configuration(directory: string, clusterId: string, monitor: string, port: number): string {
  return `[global]
fsid = ${clusterId}
mon_host = ${monitor}
public_network = 127.0.0.0/8
cluster_network = 127.0.0.0/8
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
keyring = ${directory}/keyring
auth_allow_insecure_global_id_reclaim = false
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 2000
mon_data = ${directory}/mon
mon_cluster_log_file = ${directory}/log/cluster.log
mon_data_avail_warn = 1
mon_data_avail_crit = 1
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
osd_data = ${directory}/osd
osd_objectstore = memstore
memstore_device_bytes = 4294967296
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_autoscale_mode = off
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_crush_chooseleaf_type = 0
osd_class_load_list = *
osd_class_default_list = *
run_dir = ${directory}/run
admin_socket = ${directory}/run/$name.$pid.asok
pid_file = ${directory}/run/$name.pid
log_file = ${directory}/log/$name.log
[client.rgw]
rgw_frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw_data = ${directory}/rgw
rgw_rados_pool_pg_num_min = 1
rgw_enable_usage_log = false
rgw_enable_ops_log = false
rgw_dns_name = localhost
`;
}

async function answers(address: string, child: ChildProcess, log: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    try {
      await (await fetch(address)).arrayBuffer();
      return;
    } catch (error) {
      // Not listening yet.
      if (child.exitCode === null && Date.now() < deadline) await delay(50);
      else throw new Error(`The gateway does not start:\n${await readFile(log, "utf8")}`, { cause: error });
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
