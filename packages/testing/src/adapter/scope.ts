import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Service } from "@outrigger/core";
import type { ConformanceTest } from "../conformance-test.ts";
import { assertRefusal, connectTo, jsonBody, jsonOf, post, statusOf, within } from "./http-client.ts";

/** How the host app treats request bodies before the service receives the request. */
export type HostParsing =
  /** The framework's usual parsers for JSON and urlencoded forms; they ignore multipart bodies. */
  | "fields"
  /** A multipart parser that keeps files in memory and attaches them to the request. */
  | "files"
  /** The host reads the body to its end and discards it. */
  | "nothing left";

export interface AdapterHostOptions {
  /** Mount path of the service; empty for the root. */
  mountPath: "" | "/img";
  /** A second service in the same app, mounted at `/other` after the first. */
  other?: Service;
  /** Absent: the host does not read the body. */
  parsing?: HostParsing;
}

/** A listening host app. Where the framework has routes, `GET /host` after the services answers `host`. */
export interface AdapterHost {
  /** Base URL such as `http://127.0.0.1:41234`. */
  origin: string;
  /** The last error that the host's own error handling received; `undefined` if none. */
  lastError(): unknown;
  /** Resolves when the server no longer listens and all connections are closed. */
  close(): Promise<void>;
}

export interface AdapterHarness {
  /** Starts a host app on a free port of 127.0.0.1, with the tested adapter between it and `service`. */
  start(service: Service, options: AdapterHostOptions): Promise<AdapterHost>;
  /**
   * Whether the host has its own routes after the service. `false`: the adapter itself answers other
   * requests.
   */
  hasHostRoutes: boolean;
  /** The body treatments that `start` can set up. */
  parsing: readonly HostParsing[];
  /**
   * `false`: the adapter receives web requests, and another component turns the bytes of the connection into them. The
   * suite then leaves out what a web request cannot express: targets that URL parsing changes, bodies of GET,
   * `Host` lines that are invalid or repeated, repeated lines of a reply, pipelining, and closing the connection.
   * Absent: `true`.
   */
  hasWire?: boolean;
}

/** One harness at one mount path. */
export interface Scope {
  test: ConformanceTest;
  /** Registers a test only for adapters on the connection itself. */
  wireTest: ConformanceTest;
  hasWire: boolean;
  harness: AdapterHarness;
  mountPath: "" | "/img";
}

export interface MountedHost extends AdapterHost {
  /** URL of the service: origin and mount path. */
  base: string;
}

/** Checks a raw reply after which the adapter must close the connection. */
export function assertRawRefusal({ hasWire }: Scope, raw: string, status: number, code: string): void {
  assert.equal(statusOf(raw), status, raw);
  if (hasWire) assert.match(raw, /\r\nconnection: close\r\n/i);
  assert.equal((jsonOf(raw) as { code: string }).code, code);
}

/** Opens a connection and sends a GET request on it. */
export async function requestOn(host: AdapterHost, path: string): Promise<Socket> {
  const socket = await connectTo(host.origin);
  socket.write(getRequest(path));
  return socket;
}

export function getRequest(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`;
}

/** Starts a host, runs `body`, and closes the host in any case. */
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

/** Registers a test with a host that treats bodies like this, unless the harness cannot set it up. */
export function parsedTest(
  scope: Scope,
  parsing: HostParsing,
  name: string,
  service: Service,
  body: (host: MountedHost) => Promise<void>,
): void {
  if (scope.harness.parsing.includes(parsing))
    scope.test(name, () => withHost(scope, service, body, { parsing }));
}

/** Registers the test that a method of the call rejects a body that the host has read. */
export function consumedBodyTest(
  scope: Scope,
  method: string,
  service: Service,
  headers: Record<string, string>,
  content: string | Buffer,
): void {
  const name = `${method} rejects with host_misuse at once if the host has consumed the body`;
  parsedTest(scope, "nothing left", name, service, async ({ base }) => {
    const reply = await post(base, headers, content);
    assertRefusal(reply, 500, "host_misuse");
    assert.match(String(jsonBody(reply).message), /before body parsers/);
  });
}

/** Runs `body` with an empty directory, then deletes it. */
export async function withDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-spool-"));
  try {
    await body(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The number of descriptors that this process has open; always 0 if the system does not report it. */
export async function countDescriptors(): Promise<number> {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch {
    // Only Linux has this directory; elsewhere the check is skipped.
    return 0;
  }
}
