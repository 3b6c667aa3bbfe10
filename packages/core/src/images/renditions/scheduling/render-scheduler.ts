import type { Observer } from "../../../contracts/observer.ts";
import type {
  Admission,
  AdmitOptions,
  OriginalFacts,
  OriginalType,
  Renderer,
  RenderSource,
  Rendition,
  RenditionSpec,
} from "../../../contracts/renderer.ts";
import type { Claim, WorkKind } from "./queue-order.ts";
import type { RenderBudget } from "./render-budget.ts";
import { createRenderCosts, type ExpectedCost } from "./render-costs.ts";
import { createRenderQueue, type RenderQueue } from "./render-queue.ts";

/** The kind, the clients and the signal of some work. */
export interface Turn {
  kind: WorkKind;
  claim: Claim;
  /** Leaves the line when aborted; work that has begun runs to its end. */
  signal: AbortSignal;
}

/** Shares the renderer between the clients of one process: in turns, each charged with the cost of its work. */
export interface RenderScheduler {
  /**
   * As `Renderer.render`. Rejects with `rate_limited` when the client has too much in line or no budget left, and with
   * `overloaded` when the line is full.
   * @param open Called at its turn, so that waiting work holds no bytes. Its rejection is passed on.
   */
  render(
    open: () => Promise<RenderSource>,
    original: OriginalFacts & { id: string },
    spec: RenditionSpec,
    turn: Turn & { fromIntermediate?: boolean },
  ): Promise<Rendition>;
  /** As `Renderer.admit`; also rejects as {@link render} does, except for the budget. @param upload Type and bytes of the file. */
  admit(
    source: RenderSource,
    upload: { type: OriginalType; size: number },
    options: AdmitOptions,
    turn: Turn,
  ): Promise<Admission>;
  /** Adds a client to those that wait for some work, which then runs in the best turn of them. */
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
  /** Gets gauges of waiting and running work, if the renderer tells how much it runs at once. */
  observer?: Observer | undefined;
  /** Whether to limit the work of one client in line and under way. @default true */
  boundsClients?: boolean;
}

export function createRenderScheduler(
  renderer: Renderer,
  budget: RenderBudget,
  options: RenderSchedulerOptions = {},
): RenderScheduler {
  return new FairScheduler(renderer, budget, options);
}

class FairScheduler implements RenderScheduler {
  readonly #renderer: Renderer;
  readonly #budget: RenderBudget;
  readonly #costs = createRenderCosts();
  /** `null`: the renderer does not tell how much it runs at once. */
  readonly #queue: RenderQueue | null;
  readonly #hideGauges: (() => void)[];

  constructor(renderer: Renderer, budget: RenderBudget, { observer, boundsClients }: RenderSchedulerOptions) {
    this.#renderer = renderer;
    this.#budget = budget;
    const { workers, maxQueue = workers } = renderer;
    const queue =
      workers === undefined || maxQueue === undefined
        ? null
        : createRenderQueue({ workers, maxQueue, ...(boundsClients === undefined ? {} : { boundsClients }) });
    this.#queue = queue;
    this.#hideGauges =
      queue === null || observer === undefined
        ? []
        : [
            observer.gauge("renders_waiting", () => queue.state().waiting),
            observer.gauge("renders_running", () => queue.state().running),
          ];
  }

  async render(
    open: () => Promise<RenderSource>,
    original: OriginalFacts & { id: string },
    spec: RenditionSpec,
    { fromIntermediate = false, ...turn }: Turn & { fromIntermediate?: boolean },
  ): Promise<Rendition> {
    if (turn.kind !== "background") {
      const client = firstOf(turn.claim);
      await this.#budget.require(client, () => this.#queue?.othersWait(client) ?? false);
    }
    const target = this.#renderer.measure(original, spec);
    const { id } = original;
    const cost = this.#costs.ofRender({ id, original, format: spec.format, target, fromIntermediate });
    return this.#run(turn, cost, async (working) =>
      this.#renderer.render(await open(), original.type, spec, { ...working, fromIntermediate }),
    );
  }

  admit(
    source: RenderSource,
    { type, size }: { type: OriginalType; size: number },
    options: AdmitOptions,
    turn: Turn,
  ): Promise<Admission> {
    return this.#run(turn, this.#costs.ofAdmission(type, size), (working) =>
      this.#renderer.admit(source, type, options, working),
    );
  }

  join(claim: Claim, client: string): void {
    this.#queue?.join(claim, client);
  }

  close(): void {
    for (const hide of this.#hideGauges) hide();
  }

  #run<T>(turn: Turn, cost: ExpectedCost, work: (working: Working) => Promise<T>): Promise<T> {
    const { kind, signal, claim } = turn;
    const charge = (client: string, cpuMs: number) => {
      cost.learn(cpuMs);
      if (kind !== "background") this.#budget.charge(client, cpuMs);
    };
    if (this.#queue === null) return work({ signal, onCost: (cpuMs) => charge(firstOf(claim), cpuMs) });
    return this.#queue.run({ kind, claim, signal, predictedMs: cost.predictedMs }, ({ client, onCost }) =>
      work({
        signal,
        onCost(cpuMs) {
          onCost(cpuMs);
          charge(client, cpuMs);
        },
      }),
    );
  }
}

/** The client that came first. */
function firstOf({ clients }: Claim): string {
  const [first = ""] = clients;
  return first;
}
