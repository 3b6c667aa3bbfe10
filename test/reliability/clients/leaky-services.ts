import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Call, Service, Upload, UploadLimits } from "@outrigger/core";

/** Leaks of an aborted upload. The check for leftovers must find each. */
const LEAKS = {
  "keeps the spooled file": async ({ spoolDirectory }) => {
    await writeFile(join(spoolDirectory ?? "", `${crypto.randomUUID()}.part`), "half");
  },
  "keeps it as if it were whole": async ({ spoolDirectory }) => {
    // Every process has its own spool directory in `tmp`.
    await writeFile(join(spoolDirectory ?? "", "..", "..", "blobs", crypto.randomUUID()), "half");
  },
  "keeps a descriptor": async () => {
    kept.add(await open("/dev/null"));
  },
} satisfies Record<string, (limits: UploadLimits) => Promise<void>>;

export type LeakName = keyof typeof LEAKS;

export const LEAK_NAMES = Object.keys(LEAKS) as LeakName[]; // The keys of the table above.

const kept = new Set<{ close(): Promise<void> }>();

/** Closes the handles that leaks keep open; Node would close a forgotten handle itself, with a warning. */
export async function closeKept(): Promise<void> {
  for (const handle of kept) await handle.close();
  kept.clear();
}

/** `service`, with uploads that leak when aborted. */
export function leakyUploads(service: Service, leak: LeakName): Service {
  const leaky = (call: Call) =>
    withUpload(call, async (limits) => {
      try {
        return await call.upload(limits);
      } catch (error) {
        await LEAKS[leak](limits);
        throw error;
      }
    });
  return { handle: (call) => service.handle(leaky(call)) };
}

/** `service`, whose downloads stay open when aborted. */
export function leakyDownloads(service: Service): Service {
  return {
    async handle(call) {
      const reply = await service.handle(call);
      if (!(reply?.body instanceof Readable)) return reply;
      const source = reply.body;
      kept.add({ close: async () => void source.destroy() });
      // A separate stream: its end does not end the source.
      const body = new Readable({
        read() {
          source.once("readable", () => {
            const chunk: unknown = source.read();
            if (chunk !== null) this.push(chunk);
          });
        },
      });
      source.once("end", () => body.push(null));
      return { ...reply, body };
    },
  };
}

function withUpload(call: Call, upload: (limits: UploadLimits) => Promise<Upload>): Call {
  return new Proxy(call, {
    get(target, key) {
      if (key === "upload") return upload;
      const value: unknown = Reflect.get(target, key, target);
      // A proxy cannot reach the private fields of a call.
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
