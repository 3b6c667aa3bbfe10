import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Service } from "../../contracts/call.ts";
import type { ConformanceTest } from "../conformance-test.ts";
import { within } from "./http-client.ts";

/** What the host app does with request bodies before the service sees the request. */
export type HostParsing =
  /** The framework's usual parsers for JSON and urlencoded forms; multipart bodies are left alone. */
  | "fields"
  /** A multipart parser that keeps files in memory and leaves them on the request. */
  | "files"
  /** The body is read to its end and thrown away. */
  | "nothing left";

export interface AdapterHostOptions {
  /** Where the service is mounted; empty for the root. */
  mountPath: "" | "/img";
  /** A second service in the same app, mounted at `/other` behind the first. */
  other?: Service;
  /** Absent: nothing touches the body. */
  parsing?: HostParsing;
}

/** A host app that listens, with `GET /host` behind the services answering `host` where the framework has routes. */
export interface AdapterHost {
  /** Such as `http://127.0.0.1:41234`. */
  origin: string;
  /** What the host's own error handling was given last; `undefined` when nothing. */
  lastError(): unknown;
  /** Resolves when nothing listens and no connection is left. */
  close(): Promise<void>;
}

export interface AdapterHarness {
  /** A host app on a free port of 127.0.0.1, with the adapter to be tested between it and `service`. */
  start(service: Service, options: AdapterHostOptions): Promise<AdapterHost>;
  /** Whether the host has routes of its own behind the service. `false`: the adapter itself answers what is not ours. */
  hasHostRoutes: boolean;
  /** Which of the host's ways with bodies `start` can set up. */
  parsing: readonly HostParsing[];
}

/** One harness at one mount path. */
export interface Scope {
  test: ConformanceTest;
  harness: AdapterHarness;
  mountPath: "" | "/img";
}

export interface MountedHost extends AdapterHost {
  /** Origin and mount path: where the service is. */
  base: string;
}

/** Starts a host, runs `body`, and closes the host whatever happens. */
export async function withHost(
  { harness, mountPath }: Scope,
  service: Service,
  body: (host: MountedHost) => Promise<void>,
  options: Omit<AdapterHostOptions, "mountPath"> = {},
): Promise<void> {
  const host = await harness.start(service, { mountPath, ...options });
  try {
    await body({ ...host, base: host.origin + mountPath });
  } finally {
    await within(host.close(), "the host to close");
  }
}

/** Runs `body` with an empty directory, and removes it. */
export async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-spool-"));
  try {
    await body(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** How many descriptors this process has open; always 0 where the system does not tell. */
export async function countDescriptors(): Promise<number> {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch {
    // Only Linux has this directory; elsewhere there is nothing to compare.
    return 0;
  }
}
