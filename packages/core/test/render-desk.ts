import type { Claim, WorkKind } from "../src/images/renditions/scheduling/queue-order.ts";
import { createRenderQueue } from "../src/images/renditions/scheduling/render-queue.ts";

const CHEAP_MS = 20;
export const DEAR_MS = 5_000;

interface Asked {
  kind?: WorkKind;
  predictedMs?: number;
  claim?: Claim;
  signal?: AbortSignal;
}

/** A queue on a manual clock, whose work ends only when the test ends it. */
export function createDesk(workers: number, maxQueue = 64, boundsClients = true) {
  const clock = { now: 0 };
  const queue = createRenderQueue({ workers, maxQueue, boundsClients, nowMs: () => clock.now });
  /** Names of running work, in the order of its start. */
  const underWay: string[] = [];
  const begun: string[] = [];
  const payers = new Map<string, string>();
  const refused = new Map<string, unknown>();
  const enders = new Map<string, () => void>();

  function ask(client: string, name: string, asked: Asked = {}): Promise<void> {
    const { kind = "render", predictedMs = CHEAP_MS, claim = { clients: new Set([client]) } } = asked;
    const { signal = new AbortController().signal } = asked;
    return queue
      .run({ kind, predictedMs, claim, signal }, ({ client: payer, onCost }) => {
        underWay.push(name);
        begun.push(name);
        payers.set(name, payer);
        return new Promise<void>((resolve) => {
          enders.set(name, () => {
            underWay.splice(underWay.indexOf(name), 1);
            onCost(predictedMs);
            resolve();
          });
        });
      })
      .catch((error: unknown) => void refused.set(name, error));
  }

  /** Ends some work, and lets the next begin. */
  async function end(name: string): Promise<void> {
    enders.get(name)?.();
    await settled();
  }

  /** Ends all work, oldest first. @returns the names in the order of their start. */
  async function endAll(): Promise<string[]> {
    for (let name = underWay[0]; name !== undefined; name = underWay[0]) await end(name);
    return begun;
  }

  return { clock, queue, underWay, payers, refused, ask, end, endAll };
}

/** Runs pending microtasks; no test here waits for anything else. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

export function askMany(
  place: ReturnType<typeof createDesk>,
  client: string,
  count: number,
  asked: Asked = {},
): void {
  for (let n = 1; n <= count; n++) void place.ask(client, `${client}${n}`, asked);
}
