import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { edit, heldFrom, read, send } from "./client.ts";
import { type Ledger, type LedgerEntry, outcomesAt } from "./ledger.ts";

/** When the power was cut, by the ledger's clock: between these times. */
export interface PowerCut {
  fromMs: number;
  toMs: number;
}

/** Pending work that takes longer counts as stuck. */
const PENDING_MS = 100_000;
const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");

/**
 * Requests everything that was acknowledged before a power cut from the restarted service, and examines everything else
 * it has. @returns one line for each image that is lost, or exists but should not.
 */
export async function findLosses(
  base: string,
  blobs: string,
  ledger: Ledger,
  cut: PowerCut,
): Promise<string[]> {
  const known = new Set(ledger.entries.map(({ picture }) => picture.id));
  const strangers = (await idsIn(blobs)).filter((id) => !known.has(id));
  const losses = [
    ...(await Promise.all(ledger.entries.map((entry) => lossOf(base, entry, cut)))),
    ...(await Promise.all(strangers.map((id) => strangenessOf(base, id, ledger)))),
    ...(await Promise.all([editLoss(base, ledger, cut), uploadLoss(base)])),
  ];
  return losses.filter((loss) => loss !== null);
}

async function lossOf(base: string, entry: LedgerEntry, cut: PowerCut): Promise<string | null> {
  const { picture } = entry;
  const outcomes = outcomesAt(entry, cut.fromMs, cut.toMs);
  // It was not acknowledged by then, like anything that came too late for the ledger.
  if (outcomes.length === 0) return null;
  const bytes = await readReady(base, picture.id);
  const record = await read(base, picture, "json");
  const wrong = `${picture.id} of ${picture.bytes.length} bytes answers ${bytes.status}, its record ${record.status}`;
  const expected = `expected ${outcomes.map((outcome) => outcome ?? "deleted").join(" or ")}`;
  if (record.status !== bytes.status) return `${wrong}, ${expected}`;
  if (record.status === 410 && outcomes.includes(null)) return null;
  if (record.status !== 200) return `${wrong}, ${expected}`;
  const { name } = JSON.parse(record.body.toString()) as { name: string }; // The tests of core prove its shape.
  if (!outcomes.includes(name)) return `${picture.id} is named ${name}, ${expected}`;
  return bytes.body.equals(picture.bytes) ? null : `${picture.id} has other bytes than were sent`;
}

/** A picture without an acknowledgement may exist if it is whole. */
async function strangenessOf(base: string, id: string, ledger: Ledger): Promise<string | null> {
  const { status, body } = await readReady(base, id);
  if (status === 404 || (status === 200 && ledger.wasSent(body))) return null;
  return `${id}, which was not acknowledged, answers ${status} with ${body.length} bytes`;
}

async function readReady(base: string, id: string): Promise<{ status: number; body: Buffer }> {
  const deadline = performance.now() + PENDING_MS;
  for (;;) {
    const reply = await read(base, { id });
    if (reply.status !== 202 || performance.now() > deadline) return reply;
    await delay(100);
  }
}

/** PINs work, and existing pictures can be edited. */
async function editLoss(base: string, ledger: Ledger, cut: PowerCut): Promise<string | null> {
  const entry = ledger.entries.find((each) => {
    const outcomes = outcomesAt(each, cut.fromMs, cut.toMs);
    return outcomes.length > 0 && !outcomes.includes(null);
  });
  if (entry === undefined) return null;
  const { status } = await edit(base, entry.picture, { name: "changed" });
  return status === 200 ? null : `${entry.picture.id} cannot be changed: ${status}`;
}

async function uploadLoss(base: string): Promise<string | null> {
  const response = await send(base, PNG, { name: "new" });
  if (response.status !== 201) return `A new upload answers ${response.status}`;
  const { body } = await read(base, await heldFrom(response, PNG));
  return body.equals(PNG) ? null : "A new upload has other bytes than were sent";
}

async function idsIn(blobs: string): Promise<string[]> {
  const shards = await readdir(blobs);
  const names = await Promise.all(shards.map((shard) => readdir(join(blobs, shard))));
  return names.flat().filter((name) => /^[A-Za-z0-9_-]{22}$/.test(name));
}
