import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, vi } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, upload } from "../support/service.ts";

/** The renderer's default number of processes. */
const MAX_PROCESSES = Math.max(2, availableParallelism() - 1);

export interface Watch {
  /**
   * Asserts that the disk has only the initial files and the named images, that no file of the site and no socket is
   * open, that no more processes run than the renderer may have, and that an honest upload is stored and returned
   * unchanged.
   */
  expectUnharmed(storedIds?: Iterable<string>): Promise<void>;
}

/** Uploads an honest PNG, again while a busy machine has no time for it. */
export function uploadPatiently(site: Site, png: Buffer): Promise<Created> {
  return vi.waitFor(() => upload(site, png, "image/png"), { timeout: 60_000, interval: 500 });
}

/** Begins to watch an idle site. */
export async function watchSite(site: Site): Promise<Watch> {
  const honest = await pngPhoto(40, 30);
  const known = new Set<string>();
  const upAndDown = async () => {
    const { id } = await uploadPatiently(site, honest);
    known.add(id);
    const response = await fetch(addressOf(site, id, "png"));
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(honest)).toBe(true);
  };
  await upAndDown();
  const files = new Set(filesBelow(site.directory));
  const sockets = await quietSockets(site);

  return {
    async expectUnharmed(storedIds = []) {
      await upAndDown();
      const expected = new Set([...known, ...storedIds]);
      const isExpected = (path: string) =>
        /^(?:due\/clock\/|empty\/[01]$)/.test(path) || path.split(/[/.@]/).some((part) => expected.has(part));
      const isLeftOver = (path: string) => !files.has(path) && !isExpected(path);
      // Descriptors close a moment after the reply.
      const settled = (look: () => string[], said: string) =>
        expect.poll(look, { message: said }).toEqual([]);
      await settled(() => filesBelow(site.directory).filter(isLeftOver), "left on disk");
      await settled(() => openDescriptors(site).files, "files left open");
      await settled(() => openDescriptors(site).sockets.slice(sockets), "sockets left open");
      await settled(() => renderProcesses().slice(MAX_PROCESSES), "processes left");
    },
  };
}

/** Paths of all files of a directory, relative to it. */
export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

/** Sockets open while idle. By then both ends of a closed connection have noticed. */
async function quietSockets(site: Site): Promise<number> {
  for (let before = -1; ; ) {
    const { length } = openDescriptors(site).sockets;
    if (length === before) return length;
    before = length;
    await delay(50);
  }
}

interface Descriptors {
  /** Paths of open files of the site. */
  files: string[];
  /** Open TCP sockets of the whole process, which is both client and server here. */
  sockets: string[];
}

function openDescriptors(site: Site): Descriptors {
  site.server.closeIdleConnections();
  const tcp = new Set(["tcp", "tcp6"].flatMap(inodesOf));
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // The descriptor that read this directory.
      return "";
    }
  });
  return {
    files: targets.filter((target) => target.startsWith(site.directory)),
    sockets: targets.filter((target) => tcp.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "")),
  };
}

/** Inodes of the system's sockets of a kind. The channels to the renderer's processes are of another kind. */
function inodesOf(kind: string): string[] {
  const [, ...lines] = readFileSync(`/proc/self/net/${kind}`, "latin1").trim().split("\n");
  return lines.map((line) => line.trim().split(/\s+/)[9] ?? "");
}

/** The running processes that this one has started: those of its renderers. */
function renderProcesses(): string[] {
  const list = readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").trim();
  return list.split(" ").filter((pid) => {
    try {
      return pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "latin1") !== "";
    } catch {
      // Exited meanwhile.
      return false;
    }
  });
}
