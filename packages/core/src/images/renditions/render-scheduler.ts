import type { Observer } from "../../contracts/observer.ts";
import type {
  Admission,
  AdmitOptions,
  OriginalFacts,
  OriginalType,
  Renderer,
  RenderSource,
  Rendition,
  RenditionSpec,
} from "../../contracts/renderer.ts";
import type { Claim, WorkKind } from "./queue-order.ts";
import type { RenderBudget } from "./render-budget.ts";
import { createRenderCosts, type ExpectedCost } from "./render-costs.ts";
import { createRenderQueue } from "./render-queue.ts";

/** For whom some work is done. */
export interface Turn {
  kind: WorkKind;
  claim: Claim;
  /** Gives up a place in line; work that has begun runs to its end. */
  signal: AbortSignal;
}

/** The renderer as the clients of one process share it: in turns, each charged with what its work cost. */
export interface RenderScheduler {
  /**
   * As `Renderer.render`. Rejects with `rate_limited` a client that has too much in line or used up its budget, and with
   * `overloaded` when the line is full.
   * @param open Called when it is its turn, so that what waits holds no bytes. Its rejection is passed on.
   */
  render(
    open: () => Promise<RenderSource>,
    original: OriginalFacts & { id: string },
    spec: RenditionSpec,
    turn: Turn & { fromIntermediate?: boolean },
  ): Promise<Rendition>;
  /** As `Renderer.admit`, with the refusals of {@link render} but that of the budget. @param upload type and bytes of the file. */
  admit(
    source: RenderSource,
    upload: { type: OriginalType; size: number },
    options: AdmitOptions,
    turn: Turn,
  ): Promise<Admission>;
  /** Adds a client to those who wait for some work: it is then done in the best turn of them. */
  join(claim: Claim, client: string): void;
  /** Hides its gauges. */
  close(): void;
}

/** Signal and cost of one call of the renderer. */
interface Working {
  signal: AbortSignal;
  onCost(cpuMs: number): void;
}

export interface RenderSchedulerOptions {
  /** Told how much waits and how much is under way, where the renderer says how much it does at once. */
  observer?: Observer | undefined;
  /** Whether one client may have so much in line and under way, and no more. @default true */
  boundsClients?: boolean;
}

export function createRenderScheduler(
  renderer: Renderer,
  budget: RenderBudget,
  { observer, boundsClients }: RenderSchedulerOptions = {},
): RenderScheduler {
  const costs = createRenderCosts();
  const { workers, maxQueue = workers } = renderer;
  const queue =
    workers === undefined || maxQueue === undefined
      ? null
      : createRenderQueue({ workers, maxQueue, ...(boundsClients === undefined ? {} : { boundsClients }) });
  const hideGauges =
    queue === null
      ? []
      : [
          observer?.gauge("renders_waiting", () => queue.state().waiting),
          observer?.gauge("renders_running", () => queue.state().running),
        ];

  function run<T>(turn: Turn, cost: ExpectedCost, work: (working: Working) => Promise<T>): Promise<T> {
    const { kind, signal, claim } = turn;
    const charge = (client: string, cpuMs: number) => {
      cost.learn(cpuMs);
      if (kind !== "background") budget.charge(client, cpuMs);
    };
    if (queue === null) return work({ signal, onCost: (cpuMs) => charge(firstOf(claim), cpuMs) });
    return queue.run({ kind, claim, signal, predictedMs: cost.predictedMs }, ({ client, onCost }) =>
      work({
        signal,
        onCost(cpuMs) {
          onCost(cpuMs);
          charge(client, cpuMs);
        },
      }),
    );
  }

  return {
    async render(open, original, spec, { fromIntermediate = false, ...turn }) {
      if (turn.kind !== "background") {
        const client = firstOf(turn.claim);
        await budget.require(client, () => queue?.othersWait(client) ?? false);
      }
      const target = renderer.measure(original, spec);
      const { id } = original;
      const cost = costs.ofRender({ id, original, format: spec.format, target, fromIntermediate });
      return run(turn, cost, async (working) =>
        renderer.render(await open(), original.type, spec, { ...working, fromIntermediate }),
      );
    },
    admit: (source, { type, size }, options, turn) =>
      run(turn, costs.ofAdmission(type, size), (working) => renderer.admit(source, type, options, working)),
    join(claim, client) {
      queue?.join(claim, client);
    },
    close() {
      for (const hide of hideGauges) hide?.();
    },
  };
}

/** The client that came first. */
function firstOf({ clients }: Claim): string {
  const [first = ""] = clients;
  return first;
}
