import { createHash } from "node:crypto";
import { createMemoryKeyValue } from "@outrigger/core";
import type { ProbeResult } from "@outrigger/core/lookup";
import { isForbidden } from "@outrigger/core/stores";
import { type Controls, createControls } from "./controls.ts";
import { type HostAddress, inOrderOfTrial, type MailHost, withFirst } from "./dns/mail-route.ts";
import { RouteFinder } from "./dns/route-finder.ts";
import { createEgressControl } from "./egress-control.ts";
import { EgressWatch, isSilence } from "./egress-watch.ts";
import { HostBudgets, type Session } from "./host-budget.ts";
import { BUSINESS_MAIL_HOSTS } from "./lists/big-providers.ts";
import { isConfirmed, isLast, moreInformative, NOTHING, readOutcome, UNCONFIRMED } from "./probe-results.ts";
import { ProberMemory } from "./prober-memory.ts";
import type { ProberSettings, SmtpIdentity } from "./prober-options.ts";
import { converse, type Outcome } from "./smtp/converse.ts";

export interface ProbeTask {
  local: string;
  domain: string;
  /** Whether mail hosts are queried; otherwise only the DNS is. */
  asksHosts: boolean;
  /** The account on whose behalf; `""` without one. */
  account: string;
  signal: AbortSignal;
  /** See the options of a probe; the wait for a host is not limited by `signal`. */
  onWait(waitMs: (() => number) | null): void;
  mayAsk: ((address: string) => Promise<boolean>) | undefined;
  /** Receives intermediate results. */
  report(result: ProbeResult): void;
}

/** Maximum number of addresses that are tried, over all hosts. */
const MAX_HOSTS = 4;
const MAX_GREYLIST_MS = 4 * 3_600_000;
const DNS_RETRY_MS = 60_000;
/** An aborted attempt to connect counts as failed only if it lasted at least this long. */
const TELLING_MS = 2000;

/** Asks the DNS and the mail hosts of a domain about an address. */
export class MailProbe {
  readonly #settings: ProberSettings;
  readonly #memory: ProberMemory;
  readonly #routes: RouteFinder;
  readonly #budgets: HostBudgets;
  readonly #egress: EgressWatch;
  readonly #controls: Controls;
  readonly #connections = new Set<Promise<void>>();

  constructor(settings: ProberSettings) {
    const { now, onError, secret, budget, cache = createMemoryKeyValue() } = settings;
    this.#settings = settings;
    this.#memory = new ProberMemory({ cache, secret, now, onError });
    this.#routes = new RouteFinder(settings, this.#memory);
    this.#budgets = new HostBudgets(budget, now);
    this.#egress = new EgressWatch(settings.egress, now, createEgressControl(settings, this.#routes.find));
    this.#controls = createControls(now);
  }

  async run(task: ProbeTask): Promise<ProbeResult> {
    const { local, domain, asksHosts, signal, report } = task;
    const { forbidden, now, smtp } = this.#settings;
    const route = await this.#routes.find(domain, signal);
    if (route.routing === "unknown") {
      if (signal.aborted) return { ...NOTHING, reason: "timeout" };
      return { ...NOTHING, reason: route.reason, retryAfterMs: DNS_RETRY_MS };
    }
    if (route.routing !== "found") return { ...NOTHING, routing: route.routing, mailbox: false };
    // Others may be decoys: no mail is sent to them while the first one answers.
    const isBusinessMail = BUSINESS_MAIL_HOSTS.test(route.hosts[0]?.name ?? "");
    const found: ProbeResult = { ...NOTHING, routing: "found", ...(isBusinessMail && { isBusinessMail }) };
    report(found);
    const hosts = inOrderOfTrial(route.hosts);
    // The checked address itself is connected to: a second lookup of the name could return another address.
    const allowed = hosts.filter(({ address }) => !isForbidden(forbidden, address));
    if (hosts.length > 0 && allowed.length === 0) return { ...found, reason: "forbidden_address" };
    if (!asksHosts || smtp === null) return { ...found, reason: "not_probed" };
    if (allowed.length === 0) return { ...found, reason: "no_connection" };

    const acceptsAll = (await this.#memory.acceptsAll(domain)) ?? null;
    if (acceptsAll === true) return { ...found, server: true, acceptsAll, reason: "accepts_all" };
    const greylisting = await this.#memory.greylisting(local, domain);
    const waitMs = greylisting === undefined ? 0 : greylisting.askAtMs - now();
    // With some servers, an early question restarts the wait.
    if (waitMs > 0) return { ...found, server: true, acceptsAll, reason: "greylisted", retryAfterMs: waitMs };
    const inOrder = withFirst(allowed, greylisting?.address);
    return await this.#askHosts(task, smtp, found, [route.hosts, inOrder], greylisting?.times ?? 0);
  }

  /** Deletes what is remembered of an address. */
  async forget(local: string, domain: string): Promise<void> {
    this.#controls.forget(domain, local);
    await this.#memory.forget(local, domain);
  }

  /** Ends what probes share. Resolves when all connections are closed. */
  async close(): Promise<void> {
    await Promise.all([this.#routes.close(), this.#egress.close()]);
    await Promise.all(this.#connections);
  }

  /**
   * Asks one host after another until one has answered, or refuses this sender. A denial is asked again at equal and
   * better hosts, of which one may accept.
   */
  async #askHosts(
    task: ProbeTask,
    identity: SmtpIdentity,
    found: ProbeResult,
    [hosts, inOrder]: [readonly MailHost[], readonly HostAddress[]],
    timesGreylisted: number,
  ): Promise<ProbeResult> {
    const { local, domain, signal, report } = task;
    let result = found;
    /** By address: a domain may list one under several names. */
    const answers = new Map<string, ProbeResult>();
    let deniedRank = Number.POSITIVE_INFINITY;
    for (const host of inOrder) {
      if (host.rank > deniedRank || answers.has(host.address)) continue;
      if (answers.size === MAX_HOSTS) break;
      if (signal.aborted) return { ...result, reason: "timeout" };
      const blocked = await this.#egress.admit(signal);
      if (blocked !== null) return { ...result, reason: "port_25_blocked", ...blocked };
      const session = await this.#waitForSession(task, host);
      if ("retryAfterMs" in session) {
        return signal.aborted
          ? { ...result, reason: "timeout" }
          : { ...result, reason: "budget", ...session };
      }
      // Read after the wait: another probe of the domain may have completed meanwhile.
      const acceptsAll = (await this.#memory.acceptsAll(domain)) ?? null;
      if (acceptsAll === true || session.questions === 0) {
        session.refund(session.questions);
        session.end();
        return { ...result, server: true, acceptsAll: true, reason: "accepts_all" };
      }
      const before = result;
      const onSpoken = () => report({ ...before, server: true, reason: null });
      const outcome = await this.#ask({
        task,
        identity,
        host,
        session,
        // What is known of the domain does not hold for a host that contradicts another.
        asksMadeUp: acceptsAll === null || deniedRank < Number.POSITIVE_INFINITY,
        onSpoken,
      });
      const answer = readOutcome(result, outcome, acceptsAll);
      this.#controls.note(domain, local, outcome, answer.acceptsAll);
      if (isLast(outcome, answer)) {
        const remembered = await this.#remember(answer, task, host, timesGreylisted);
        report(remembered);
        return remembered;
      }
      if (outcome.kind === "answered") deniedRank = Math.min(deniedRank, host.rank);
      answers.set(host.address, answer);
      result = moreInformative(result, answer);
      report({ ...result, reason: null });
    }
    const [address, denial] = [...answers].find(([, { mailbox }]) => mailbox === false) ?? [];
    if (address === undefined || denial === undefined) return result;
    if (!isConfirmed(hosts, deniedRank, answers)) return { ...result, ...UNCONFIRMED };
    return await this.#remember(denial, task, { address }, timesGreylisted);
  }

  #waitForSession({ domain, account, signal, onWait }: ProbeTask, { address }: HostAddress) {
    const { budget, now } = this.#settings;
    const sinceMs = now();
    // The second question is the control, or finds out whether the domain accepts all; the third repeats the first.
    const questions = () => {
      const { acceptedAllAtMs, hasFailed } = this.#controls.of(domain);
      // The answer to another probe spares waiting probes their questions.
      if (acceptedAllAtMs >= sinceMs) return 0;
      return hasFailed ? Math.min(3, budget.questionsPerMinute) : 2;
    };
    return this.#budgets.take(address, { account, signal, onWait, questions });
  }

  async #ask({ task, identity, host, session, asksMadeUp, onSpoken }: Conversation): Promise<Outcome> {
    const { local, domain, signal, mayAsk } = task;
    const { port, connectMs, replyMs, connect } = this.#settings;
    const closing: Promise<void>[] = [];
    const startedMs = performance.now();
    try {
      const outcome = await converse(
        {
          local,
          domain,
          repeats: session.questions > 2,
          control: () => this.#controls.choose(domain, local, signal, mayAsk),
          madeUpLocal: asksMadeUp ? madeUpLocal(identity.mailFrom, domain) : null,
        },
        {
          ...host,
          identity,
          signal,
          port,
          connectMs,
          replyMs,
          connect,
          onSpoken,
          onClosing: (gone) => closing.push(gone),
        },
      );
      await this.#noteConnection(outcome, task, host, performance.now() - startedMs);
      // A conversation that broke off may have asked; its questions are not refunded.
      if (outcome.kind !== "failed" || !outcome.hasSpoken) {
        session.refund(session.questions - questionsAsked(outcome));
      }
      return outcome;
    } finally {
      // The session ends only when the connection is closed.
      const gone = Promise.all(closing).then(() => session.end());
      this.#connections.add(gone);
      void gone.then(() => this.#connections.delete(gone));
    }
  }

  /** Tells the watch of port 25 whether a connection was made. */
  async #noteConnection(
    outcome: Outcome,
    { domain, signal }: ProbeTask,
    { address }: HostAddress,
    tookMs: number,
  ): Promise<void> {
    const failed = outcome.kind === "failed" && !outcome.hasSpoken ? outcome : null;
    if (failed?.failure === "unreachable") {
      if (isSilence(failed.code) === true) await this.#egress.failed(domain, address, signal);
    } else if (failed?.failure === "aborted") {
      if (tookMs >= TELLING_MS) await this.#egress.failed(domain, address, signal);
    } else {
      this.#egress.connected();
    }
  }

  /** Keeps whether the domain accepts all, and a greylisting with the time of the next attempt. */
  async #remember(
    answer: ProbeResult,
    { local, domain }: ProbeTask,
    { address }: Pick<HostAddress, "address">,
    timesGreylisted: number,
  ): Promise<ProbeResult> {
    const { acceptsAllTtlMs, greylistMs, now } = this.#settings;
    if (answer.acceptsAll !== null)
      await this.#memory.storeAcceptsAll(domain, answer.acceptsAll, acceptsAllTtlMs);
    if (answer.reason !== "greylisted") return answer;
    const times = timesGreylisted + 1;
    const firstMs = answer.retryAfterMs ?? greylistMs;
    const retryAfterMs = Math.min(MAX_GREYLIST_MS, firstMs * 2 ** timesGreylisted);
    // If only the made-up name is greylisted, the mailbox is known and needs no retry.
    if (answer.mailbox === null) {
      await this.#memory.storeGreylisting(local, domain, { address, times, askAtMs: now() + retryAfterMs });
    }
    return { ...answer, retryAfterMs };
  }
}

function questionsAsked(outcome: Outcome): number {
  if (outcome.kind !== "answered") return 0;
  return [outcome.target, outcome.madeUp, outcome.control, outcome.repeated].filter(Boolean).length;
}

/** What one conversation with a host needs. */
interface Conversation {
  task: ProbeTask;
  identity: SmtpIdentity;
  host: HostAddress;
  session: Session;
  /** Whether a made-up name is asked about too, to find out whether the domain accepts all. */
  asksMadeUp: boolean;
  /** Called once the server has spoken SMTP. */
  onSpoken(): void;
}

const LENGTH = 20;

/**
 * A local part that does not exist, to find out whether a domain accepts all. It is the same for one sender and domain:
 * a greylisting server defers the first question about each new address.
 */
function madeUpLocal(mailFrom: string, domain: string): string {
  const hash = createHash("sha256").update(`${mailFrom}\n${domain}`).digest("hex");
  return `q${BigInt(`0x${hash}`).toString(36).slice(0, LENGTH)}`;
}
