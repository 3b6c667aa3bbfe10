import { createHash, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEachFile } from "../../../test/support/hooks.ts";
import type { Call, SpooledFile } from "../src/contracts/call.ts";

/** Spool directory for stores without their own. */
const spool = join(tmpdir(), `outrigger-calls-${randomUUID()}`);
afterEachFile(() => rmSync(spool, { recursive: true, force: true }));

/** Begins with the PNG signature; core checks nothing else. */
export const PNG = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from("what a renderer would read"),
]);

export interface CallOptions {
  headers?: Record<string, string>;
  search?: string;
  signal?: AbortSignal;
  /** Fields of a JSON or form body. */
  fields?: Record<string, unknown>;
  /** The pieces of a body of bytes. */
  pieces?: readonly Uint8Array[];
  /** The file of an upload. */
  file?: Buffer;
  /** Its declared type. @default "image/png" */
  fileType?: string;
  /** Text fields of an upload. */
  uploadFields?: Record<string, string>;
  /** @default "192.0.2.1" */
  clientIp?: string;
}

/** A request as an adapter passes it to a service. */
export function createCall(method: string, path: string, options: CallOptions = {}): Call {
  const { headers = {}, search = "", signal = new AbortController().signal, fields, file = PNG } = options;
  const { clientIp = "192.0.2.1", pieces = [], fileType = "image/png", uploadFields = {} } = options;
  return {
    method,
    path,
    search,
    headers: {
      host: "pictures.example",
      "user-agent": "Test/1.0",
      ...(fields === undefined ? {} : { "content-type": "application/json", "content-length": "2" }),
      ...headers,
    },
    mountPath: "",
    origin: "https://pictures.example",
    secure: true,
    clientIp,
    peerIp: clientIp,
    signal,
    context: null,
    async upload({ spoolDirectory = spool }) {
      const spooled = { ...(await spoolFile(spoolDirectory, file)), declaredType: fileType };
      return { file: spooled, fields: Object.assign(Object.create(null), uploadFields) };
    },
    fields: async () => fields ?? null,
    async bytes(_limits, take) {
      for (const piece of pieces) await take(piece);
    },
  };
}

async function spoolFile(directory: string, bytes: Buffer): Promise<SpooledFile> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, randomUUID());
  await writeFile(path, bytes);
  return {
    path,
    size: bytes.length,
    name: "picture.png",
    declaredType: "image/png",
    head: bytes.subarray(0, 64 * 1024),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    dispose: () => rm(path, { force: true }),
  };
}
