import type { Filled } from "@outrigger/core/stores";
import type { EgressRule } from "./prober-options.ts";

/**
 * Detects that outgoing port 25 is blocked, as at many hosting providers: several hosts of as many domains keep
 * silent while no connection succeeds, and so does a control host. Dead domains alone prove nothing.
 */
export interface EgressWatch {
  /**
   * Resolves with `null` if a connection may be tried, else with the time to wait. After each pause, it waits for
   * the control host, or until `signal` aborts.
   */
  admit(signal: AbortSignal): Promise<{ retryAfterMs: number } | null>;
  /** Records a host that kept silent. Resolves when it is clear what this means, or when `signal` aborts. */
  failed(domain: string, address: string, signal: AbortSignal): Promise<void>;
  connected(): void;
  /** Aborts the control. */
  close(): Promise<void>;
}

/** Whether the control host keeps silent; `false` without a control host. Never rejects. */
export type EgressControl = (signal: AbortSignal) => Promise<boolean>;

/** Maximum number of recorded failures. */
const MAX_FAILURES = 1000;
/** Time between two control connections that succeed. */
const MIN_CONTROL_MS = 60_000;
const SILENCE: ReadonlySet<string | undefined> = new Set(["ETIMEDOUT", "EPERM", "EACCES"]);
const OWN_LACKS: ReadonlySet<string | undefined> = new Set(["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

/**
 * Whether a failed connection got no answer, by Node's error code. A refusal or an unreachable host is an answer from
 * beyond this network. `null`: a machine without IPv6 or without a network tells nothing.
 */
export function isSilence(code: string | undefined): boolean | null {
  return OWN_LACKS.has(code) ? null : SILENCE.has(code);
}

export function createEgressWatch(
  { hosts, windowMs, pauseMs }: Filled<EgressRule>,
  now: () => number,
  controlIsSilent: EgressControl,
): EgressWatch {
  /** The latest failure of each address. */
  const failures = new Map<string, { domain: string; atMs: number }>();
  const closing = new AbortController();
  let closedUntilMs: number | null = null;
  let mayCheckAtMs = Number.NEGATIVE_INFINITY;
  let successes = 0;
  let checking: Promise<void> | null = null;

  function isSuspicious(): boolean {
    const since = now() - windowMs;
    for (const [address, { atMs }] of failures) {
      if (atMs < since || failures.size > MAX_FAILURES) failures.delete(address);
    }
    const domains = new Set([...failures.values()].map(({ domain }) => domain));
    return Math.min(domains.size, failures.size) >= hosts;
  }

  /** Single flight. A connection that succeeds meanwhile overrules the control. */
  async function check(): Promise<void> {
    const before = successes;
    const isSilent = await controlIsSilent(closing.signal);
    const isOpen = !isSilent || successes > before;
    failures.clear();
    mayCheckAtMs = isOpen ? now() + MIN_CONTROL_MS : now();
    closedUntilMs = isOpen ? null : now() + pauseMs;
  }

  async function checked(signal: AbortSignal): Promise<void> {
    checking ??= check().finally(() => {
      checking = null;
    });
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();
    await Promise.race([checking, left]);
    signal.removeEventListener("abort", leave);
  }

  return {
    async admit(signal) {
      if (closedUntilMs !== null && closedUntilMs <= now()) await checked(signal);
      return closedUntilMs === null ? null : { retryAfterMs: Math.max(1000, closedUntilMs - now()) };
    },
    async failed(domain, address, signal) {
      failures.delete(address);
      failures.set(address, { domain, atMs: now() });
      if (closedUntilMs === null && now() >= mayCheckAtMs && isSuspicious()) await checked(signal);
    },
    connected() {
      successes += 1;
      failures.clear();
      closedUntilMs = null;
    },
    async close() {
      closing.abort();
      await checking;
    },
  };
}
