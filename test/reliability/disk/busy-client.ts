import { randomBytes } from "node:crypto";
import { edit, pictureIn, remove, send } from "./client.ts";
import type { Ledger } from "./ledger.ts";

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const SIZES = [200, 5_000, 60_000, 400_000, 2_000_000] as const;

/**
 * Uploads, renames and deletes pictures, recording each step in the ledger, until the signal aborts the current step.
 */
export async function workUntil(signal: AbortSignal, base: string, ledger: Ledger): Promise<void> {
  while (!signal.aborted) {
    try {
      await doSomething(base, ledger);
    } catch (error) {
      // The service ended during the request.
      if (!signal.aborted) throw error;
    }
  }
}

async function doSomething(base: string, ledger: Ledger): Promise<void> {
  const name = randomBytes(6).toString("hex");
  const idle = ledger.idle();
  const entry = idle[Math.floor(Math.random() * idle.length)];
  const dice = Math.random();
  if (entry === undefined || dice < 0.5) return upload(base, ledger, name, dice < 0.1);
  if (dice < 0.8) {
    const acknowledge = ledger.begin(entry, name);
    const response = await edit(base, entry.picture, { name });
    requireStatus(response, 200);
    acknowledge();
    await response.arrayBuffer();
  } else {
    const acknowledge = ledger.begin(entry, null);
    requireStatus(await remove(base, entry.picture), 204);
    acknowledge();
  }
}

async function upload(base: string, ledger: Ledger, name: string, isLater: boolean): Promise<void> {
  const size = SIZES[Math.floor(Math.random() * SIZES.length)] ?? SIZES[0];
  const bytes = Buffer.concat([PNG_SIGNATURE, randomBytes(size)]);
  ledger.sending(bytes);
  const response = await send(base, bytes, { name }, isLater ? { Prefer: "respond-async" } : {});
  requireStatus(response, 201, 202);
  // The head acknowledges the picture, even if the body is not read.
  const picture = { ...pictureIn(response), bytes };
  ledger.created(picture, name, response.status === 202);
  await response.arrayBuffer();
}

function requireStatus(response: Response, ...expected: number[]): void {
  if (!expected.includes(response.status)) throw new Error(`${response.url} answers ${response.status}`);
}
