import { abortable } from "@outrigger/core/stores";
import type { ProberLimits } from "./prober-options.ts";

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

/**
 * Detects that outgoing port 25 is blocked, as at many hosting providers: several hosts of as many domains keep
 * silent while no connection succeeds, and so does a control host. Dead domains alone prove nothing.
 */
export class EgressWatch {
  readonly #rule: ProberLimits["egress"];
  readonly #now: () => number;
  readonly #controlIsSilent: EgressControl;
  /** The latest failure of each address. */
  readonly #failures = new Map<string, { domain: string; atMs: number }>();
  readonly #closing = new AbortController();
  #closedUntilMs: number | null = null;
  #mayCheckAtMs = Number.NEGATIVE_INFINITY;
  #successes = 0;
  #checking: Promise<void> | null = null;

  constructor(rule: ProberLimits["egress"], now: () => number, controlIsSilent: EgressControl) {
    this.#rule = rule;
    this.#now = now;
    this.#controlIsSilent = controlIsSilent;
  }

  /**
   * Resolves with `null` if a connection may be tried, else with the time to wait. After each pause, it waits for
   * the control host, or until `signal` aborts.
   */
  async admit(signal: AbortSignal): Promise<{ retryAfterMs: number } | null> {
    const isOver = this.#closedUntilMs !== null && this.#closedUntilMs <= this.#now();
    if (isOver) await this.#checked(signal);
    if (this.#closedUntilMs === null) return null;
    return { retryAfterMs: Math.max(1000, this.#closedUntilMs - this.#now()) };
  }

  /** Records a host that kept silent. Resolves when it is clear what this means, or when `signal` aborts. */
  async failed(domain: string, address: string, signal: AbortSignal): Promise<void> {
    this.#failures.delete(address);
    this.#failures.set(address, { domain, atMs: this.#now() });
    const mayCheck = this.#closedUntilMs === null && this.#now() >= this.#mayCheckAtMs;
    if (mayCheck && this.#isSuspicious()) await this.#checked(signal);
  }

  connected(): void {
    this.#successes += 1;
    this.#failures.clear();
    this.#closedUntilMs = null;
  }

  /** Aborts the control. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checking;
  }

  #isSuspicious(): boolean {
    const since = this.#now() - this.#rule.windowMs;
    for (const [address, { atMs }] of this.#failures) {
      if (atMs < since || this.#failures.size > MAX_FAILURES) this.#failures.delete(address);
    }
    const domains = new Set([...this.#failures.values()].map(({ domain }) => domain));
    return Math.min(domains.size, this.#failures.size) >= this.#rule.hosts;
  }

  /** A connection that succeeds meanwhile overrules the control. */
  async #check(): Promise<void> {
    const before = this.#successes;
    const isSilent = await this.#controlIsSilent(this.#closing.signal);
    const isOpen = !isSilent || this.#successes > before;
    this.#failures.clear();
    this.#mayCheckAtMs = isOpen ? this.#now() + MIN_CONTROL_MS : this.#now();
    this.#closedUntilMs = isOpen ? null : this.#now() + this.#rule.pauseMs;
  }

  /** Single flight. Resolves also when `signal` aborts. */
  async #checked(signal: AbortSignal): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    await abortable(this.#checking, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }
}
