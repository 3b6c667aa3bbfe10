import {
  type BlobStore,
  type BulkRemoval,
  hasBulkRemoval,
  hasJointAdoption,
  isLocalStore,
  type JointAdoption,
  type LocalStore,
} from "../contracts/blob-store.ts";
import { type DueIndex, hasDueIndex } from "../contracts/due-index.ts";
import { hasLeases, type LeaseStore } from "../contracts/lease-store.ts";
import type { Logger } from "../contracts/logger.ts";
import type { Observer, Operation, StoreMethod, StoreRole } from "../contracts/observer.ts";
import { hasRecordQueries, type RecordQueries } from "../contracts/record-queries.ts";
import type { Renderer, Sandbox, SandboxLevel } from "../contracts/renderer.ts";
import { isServiceError } from "../errors.ts";

/**
 * Wraps a store with all its abilities so that its reads and writes are observed. `get`, `stat` and `delete`
 * of a missing key end as `missing`, and so does a lease that another process holds. `removeNamed` counts as
 * one `delete`, `adoptTogether` as one `adopt`, and a query of records as one `list`. Not observed: `isCurrent`, which runs on every request, `localPath` and `localSecret`. A
 * stream body is read after its `get` has ended.
 */
export function observeStore<S extends BlobStore>(store: S, role: StoreRole, observer: Observer): S {
  const observed = <T>(method: StoreMethod, work: () => Promise<T>, outcomeOf?: (result: T) => string) =>
    observer.observe({ kind: "store", role, method }, work, outcomeOf);

  const basics: Partial<BlobStore> = {
    put: (key, body, options) => observed("put", () => store.put(key, body, options)),
    get: (key, options) => observed("get", () => store.get(key, options), foundOrMissing),
    stat: (key) => observed("stat", () => store.stat(key), foundOrMissing),
    delete: (key) => observed("delete", () => store.delete(key), foundOrMissing),
    list: (prefix, options) => observed("list", () => store.list(prefix, options)),
  };
  return overlay(store, {
    ...basics,
    ...(isLocalStore(store) ? { adopt: adoptOf(store) } : {}),
    ...(hasJointAdoption(store) ? { adoptTogether: adoptTogetherOf(store) } : {}),
    ...(hasBulkRemoval(store) ? { removeNamed: removeNamedOf(store) } : {}),
    ...(hasRecordQueries(store) ? queriesOf(store) : {}),
    ...(hasDueIndex(store) ? dueIndexOf(store) : {}),
    ...(hasLeases(store) ? leasesOf(store) : {}),
  });

  function adoptOf(local: LocalStore): LocalStore["adopt"] {
    return (key, path, options) => observed("adopt", () => local.adopt(key, path, options));
  }

  function adoptTogetherOf(local: JointAdoption): JointAdoption["adoptTogether"] {
    return (prefix, blobs, options) => observed("adopt", () => local.adoptTogether(prefix, blobs, options));
  }

  function removeNamedOf(removing: BulkRemoval): BulkRemoval["removeNamed"] {
    return (prefix, names) => observed("delete", () => removing.removeNamed(prefix, names));
  }

  function queriesOf(queries: RecordQueries): Omit<RecordQueries, "recordParts"> {
    return {
      findRecords: (filter, nowMs, cursor) =>
        observed("list", () => queries.findRecords(filter, nowMs, cursor)),
      countRecords: (part, nowMs) => observed("list", () => queries.countRecords(part, nowMs)),
    };
  }

  function dueIndexOf(index: DueIndex): DueIndex {
    return {
      addDue: (list, entry, signal) => observed("addDue", () => index.addDue(list, entry, signal)),
      removeDue: (list, entry) => observed("removeDue", () => index.removeDue(list, entry)),
      listDue: (list, untilMs, limit) => observed("listDue", () => index.listDue(list, untilMs, limit)),
    };
  }

  function leasesOf(leases: LeaseStore): LeaseStore {
    return {
      acquireLease: (key, leaseMs) =>
        observed("acquireLease", () => leases.acquireLease(key, leaseMs), foundOrMissing),
      renewLease: (key, proof, leaseMs) =>
        observed("renewLease", () => leases.renewLease(key, proof, leaseMs), foundOrMissing),
      releaseLease: (key, proof) => observed("releaseLease", () => leases.releaseLease(key, proof)),
    };
  }
}

/** Missing is `null` or `false`, as in the contract. */
function foundOrMissing(result: unknown): string {
  return result === null || result === false ? "missing" : "ok";
}

/**
 * An object with all members of `target`, including its optional abilities, in which `changes` replaces the
 * members it names. Methods are looked up once, now; other properties are read from `target` on every access.
 */
export function overlay<T extends object>(target: T, changes: object): T {
  const layer = { ...changes };
  let owner: object | null = target;
  while (owner !== null && owner !== Object.prototype) {
    for (const name of Reflect.ownKeys(owner)) {
      if (Object.hasOwn(layer, name)) continue;
      const method: unknown = Reflect.getOwnPropertyDescriptor(owner, name)?.value;
      Object.defineProperty(layer, name, {
        enumerable: true,
        ...(typeof method === "function"
          ? { value: method.bind(target) }
          : { get: () => Reflect.get(target, name) }),
      });
    }
    owner = Object.getPrototypeOf(owner);
  }
  // The loop has just assigned every property of `target`, which TypeScript cannot infer.
  return layer as T;
}

const CONFINED_BY: Readonly<Record<SandboxLevel, string>> = {
  bubblewrap: "Render processes are confined by bubblewrap.",
  none: "Render processes are not confined but by Node's permission model, which does not bind decoders.",
};
const STRONGER = " Install bubblewrap: apt-get install bubblewrap, or see outrigger serve --check.";
const LEVELS: readonly SandboxLevel[] = ["bubblewrap", "none"];

/** A renderer that is watched. */
export interface WatchedRenderer {
  renderer: Renderer;
  /** Removes the gauges. */
  hide(): void;
}

/** The receivers of what a renderer shows of itself. */
export interface RendererWatch {
  log: Logger;
  onError(error: unknown): void;
  observer: Observer | undefined;
}

/**
 * Wraps a renderer, so that
 * - its work is observed: an admission or a render from its slot, without its time in the queue,
 * - `onError` receives the first error of a renderer that does not work, and after a success the next one; services do not report these,
 * - the level of its sandbox is logged once it is known, which is after its start or the first picture, and has a gauge.
 */
export function watchRenderer(
  renderer: Renderer,
  { log, onError, observer }: RendererWatch,
): WatchedRenderer {
  let isLogged = false;
  let isReported = false;
  const logOnce = (): void => {
    if (isLogged || !renderer.sandbox) return;
    isLogged = true;
    logSandbox(renderer.sandbox, log);
  };
  const watch = async <T>(work: () => Promise<T>, operation?: Operation): Promise<T> => {
    try {
      const done = await (operation && observer ? observer.observe(operation, work) : work());
      isReported = false;
      return done;
    } catch (error) {
      if (!isReported && saysNotWorking(error)) onError(error);
      isReported ||= saysNotWorking(error);
      throw error;
    } finally {
      logOnce();
    }
  };
  logOnce();
  const { start } = renderer;
  const gauges =
    renderer.sandbox === undefined
      ? []
      : LEVELS.map((level) =>
          observer?.gauge(`sandbox_${level}`, () => (renderer.sandbox?.level === level ? 1 : 0)),
        );
  return {
    renderer: overlay(renderer, {
      ...(start && { start: () => watch(() => start.call(renderer)) }),
      admit: (source, type, options, work) =>
        watch(() => renderer.admit(source, type, options, work), { kind: "admit", type }),
      render: (source, type, spec, work) =>
        watch(() => renderer.render(source, type, spec, work), { kind: "render", type, format: spec.format }),
    } satisfies Pick<Renderer, "start" | "admit" | "render">),
    hide() {
      for (const hide of gauges) hide?.();
    },
  };
}

function logSandbox({ level, failures }: Sandbox, log: Logger): void {
  const fields = { sandbox: level, ...(failures.length === 0 ? {} : { failures }) };
  // Without a failure, the host chose this level.
  if (failures.length === 0) log.info(fields, CONFINED_BY[level]);
  else log.warn(fields, CONFINED_BY[level] + STRONGER);
  if (process.getuid?.() === 0) {
    log.warn(
      { sandbox: level },
      "This process runs as root, and so do its render processes. Use another user.",
    );
  }
}

/**
 * Whether a renderer does not work here, as opposed to being busy (`overloaded`) or refusing a conversion
 * (`not_implemented`).
 */
export function saysNotWorking(error: unknown): boolean {
  if (!isServiceError(error) || error.cause === undefined) return false;
  return error.code === "overloaded" || error.code === "not_implemented";
}

/** The same observer; its own failures go to `onError`, and the observed work returns its result. */
export function safeObserver(observer: Observer, onError: (error: unknown) => void): Observer {
  return {
    async observe(operation, work, outcomeOf) {
      let begun: ReturnType<typeof work> | undefined;
      const begin = () => {
        begun ??= work();
        return begun;
      };
      try {
        return await observer.observe(operation, begin, outcomeOf);
      } catch (error) {
        const result = await begin();
        // The work succeeded, so the observer failed.
        onError(error);
        return result;
      }
    },
    served(from) {
      try {
        observer.served(from);
      } catch (error) {
        onError(error);
      }
    },
    ...(observer.answered === undefined
      ? {}
      : {
          answered(request) {
            try {
              observer.answered?.(request);
            } catch (error) {
              onError(error);
            }
          },
        }),
    gauge(name, read) {
      try {
        return observer.gauge(name, read);
      } catch (error) {
        onError(error);
        return () => undefined;
      }
    },
  };
}
