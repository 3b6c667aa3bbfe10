import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Service } from "../../contracts/call.ts";
import type { AdapterHarness, AdapterHost, AdapterHostOptions } from "../adapter-contract.ts";
import type { ConformanceTest } from "../conformance-test.ts";
import { within } from "./http-client.ts";

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
