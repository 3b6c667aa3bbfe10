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
  /** Aborts queued work. Running work continues to its end. */
  signal: AbortSignal;
}

/** Shares the renderer between the clients of one process: they take turns, and each is charged for its work. */
export interface RenderScheduler {
  /**
   * Like `Renderer.render`. Rejects with `rate_limited` when the client has too much queued work or no budget left, and with
   * `overloaded` when the queue is full.
   * @param open Opens the source at its turn, so that queued work holds no bytes. Its rejection is passed on.
   */
  render(
    open: () => Promise<RenderSource>,
    original: OriginalFacts & { id: string },
    spec: RenditionSpec,
    turn: Turn & { fromIntermediate?: boolean },
  ): Promise<Rendition>;
  /** Like `Renderer.admit`. Also rejects like {@link render}, but ignores the budget. @param upload Type and size of the file. */
  admit(
    source: RenderSource,
    upload: { type: OriginalType; size: number },
    options: AdmitOptions,
    turn: Turn,
  ): Promise<Admission>;
  /** Adds a client to those that wait for queued work. The work takes the best turn among theirs. */
  join(claim: Claim, client: string): void;
  /** Removes the gauges. */
  close(): void;
}

/** Signal and cost of one call of the renderer. */
interface Working {
  signal: AbortSignal;
  onCost(cpuMs: number): void;
}

export interface RenderSchedulerOptions {
  /** Receives gauges of queued and running work, if the renderer states its number of workers. */
  observer?: Observer | undefined;
  /** Whether to limit the queued and running work of one client. @default true */
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
  /** `null`: the renderer does not state its number of workers. */
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

/** The first client of a claim. */
function firstOf({ clients }: Claim): string {
  const [first = ""] = clients;
  return first;
}
