import { createHash } from "node:crypto";
import type { ProbeResult } from "@outrigger/core/lookup";
import { isForbidden } from "@outrigger/core/stores";
import { type Controls, createControls } from "./controls.ts";
import type { MailHost, MailRoute } from "./dns/mail-route.ts";
import { type EgressWatch, isSilence } from "./egress-watch.ts";
import type { HostBudgets } from "./host-budget.ts";
import { NOTHING, readOutcome } from "./probe-results.ts";
import type { ProberMemory } from "./prober-memory.ts";
import type { ProberSettings, SmtpIdentity } from "./prober-options.ts";
import { converse, type Outcome } from "./smtp/converse.ts";

export interface ProbeOptions {
  settings: ProberSettings;
  memory: ProberMemory;
  findRoute(domain: string, signal: AbortSignal): Promise<MailRoute>;
  budgets: HostBudgets;
  egress: EgressWatch;
}

export interface ProbeTask {
  local: string;
  domain: string;
  /** Whether mail hosts are queried; otherwise only the DNS is. */
  asksHosts: boolean;
  /** The account on whose behalf; `""` without one. */
  account: string;
  signal: AbortSignal;
  /** See the options of a probe; the time in line is not limited by `signal`. */
  onWait(waitMs: (() => number) | null): void;
  mayAsk: ((address: string) => Promise<boolean>) | undefined;
  /** Receives intermediate results. */
  report(result: ProbeResult): void;
}

export interface Probe {
  (task: ProbeTask): Promise<ProbeResult>;
  /** Deletes an address that serves as control of its domain. */
  forget: Controls["forget"];
  /** Resolves when all connections are closed. */
  settled(): Promise<void>;
}

/** A host name with one of its addresses. */
interface Place {
  name: string;
  address: string;
}

/** Maximum number of addresses that are tried, over all hosts. */
const MAX_PLACES = 4;
const MAX_GREYLIST_MS = 4 * 3_600_000;
const DNS_RETRY_MS = 60_000;
/** An aborted attempt to connect counts as failed only if it lasted at least this long. */
const TELLING_MS = 2000;

export function createProbe({ settings, memory, findRoute, budgets, egress }: ProbeOptions): Probe {
  const connections = new Set<Promise<void>>();
  const controls = createControls(settings.now);

  async function probe(task: ProbeTask): Promise<ProbeResult> {
    const { local, domain, asksHosts, signal, report } = task;
    const route = await findRoute(domain, signal);
    if (route.routing === "unknown") {
      if (signal.aborted) return { ...NOTHING, reason: "timeout" };
      return { ...NOTHING, reason: route.reason, retryAfterMs: DNS_RETRY_MS };
    }
    const found: ProbeResult = { ...NOTHING, routing: route.routing };
    if (route.routing !== "found") return { ...found, mailbox: false };
    report(found);
    const places = placesOf(route.hosts);
    // The checked address itself is connected to: a second lookup of the name could return another address.
    const allowed = places.filter(({ address }) => !isForbidden(settings.forbidden, address));
    if (places.length > 0 && allowed.length === 0) return { ...found, reason: "forbidden_address" };
    if (!asksHosts || settings.smtp === null) return { ...found, reason: "not_probed" };
    if (allowed.length === 0) return { ...found, reason: "no_connection" };

    const acceptsAll = (await memory.acceptsAll(domain)) ?? null;
    if (acceptsAll === true) return { ...found, server: true, acceptsAll, reason: "accepts_all" };
    const greylisting = await memory.greylisting(local, domain);
    const waitMs = greylisting === undefined ? 0 : greylisting.askAtMs - settings.now();
    // With some servers, an early question restarts the wait.
    if (waitMs > 0) return { ...found, server: true, acceptsAll, reason: "greylisted", retryAfterMs: waitMs };
    const ordered = preferred(allowed, greylisting?.address);
    return await askPlaces(task, settings.smtp, found, ordered.slice(0, MAX_PLACES), greylisting?.times ?? 0);
  }

  async function askPlaces(
    task: ProbeTask,
    identity: SmtpIdentity,
    found: ProbeResult,
    places: readonly Place[],
    timesGreylisted: number,
  ): Promise<ProbeResult> {
    const { local, domain, signal, report } = task;
    let result = found;
    for (const place of places) {
      if (signal.aborted) return { ...result, reason: "timeout" };
      const blocked = await egress.admit(signal);
      if (blocked !== null) return { ...result, reason: "port_25_blocked", ...blocked };
      const turn = await takeTurn(task, place);
      if ("retryAfterMs" in turn) {
        return signal.aborted ? { ...result, reason: "timeout" } : { ...result, reason: "budget", ...turn };
      }
      // Read after the wait: another probe of the domain may have completed meanwhile.
      const acceptsAll = (await memory.acceptsAll(domain)) ?? null;
      if (acceptsAll === true || turn.questions === 0) {
        turn.refund(turn.questions);
        turn.end();
        return { ...result, server: true, acceptsAll: true, reason: "accepts_all" };
      }
      const outcome = await ask(task, identity, place, acceptsAll === null, {
        ...{ questions: turn.questions, end: turn.end },
        refundAllBut: (asked) => turn.refund(turn.questions - asked),
        onSpoken: () => report({ ...result, server: true, reason: null }),
      });
      const told = readOutcome(result, outcome, acceptsAll);
      controls.note(domain, local, outcome, told.acceptsAll);
      if (isLast(outcome)) {
        const kept = await keepWhatWasTold(told, local, domain, place, timesGreylisted);
        report(kept);
        return kept;
      }
      result = keepMoreTelling(result, told);
      report({ ...result, reason: null });
    }
    return result;
  }

  function takeTurn({ domain, account, signal, onWait }: ProbeTask, { address }: Place) {
    const sinceMs = settings.now();
    // The second question is the control, or finds out whether the domain accepts all; the third repeats the first.
    const questions = () => {
      const { acceptedAllAtMs, hasFailed } = controls.of(domain);
      // The answer to another probe spares those in line their questions.
      if (acceptedAllAtMs >= sinceMs) return 0;
      return hasFailed ? Math.min(3, settings.budget.questionsPerMinute) : 2;
    };
    return budgets.take(address, { account, signal, onWait, questions });
  }

  async function ask(
    task: ProbeTask,
    identity: SmtpIdentity,
    { name, address }: Place,
    asksMadeUp: boolean,
    turn: { questions: number; refundAllBut(asked: number): void; end(): void; onSpoken(): void },
  ): Promise<Outcome> {
    const { local, domain, signal, mayAsk } = task;
    const closing: Promise<void>[] = [];
    const startedMs = performance.now();
    try {
      const outcome = await converse(
        {
          ...{ local, domain, repeats: turn.questions > 2 },
          control: () => controls.choose(domain, local, signal, mayAsk),
          madeUpLocal: asksMadeUp ? madeUpLocal(identity.mailFrom, domain) : null,
        },
        {
          ...{ name, address, identity, signal, port: settings.port },
          ...{ connectMs: settings.connectMs, replyMs: settings.replyMs, connect: settings.connect },
          onSpoken: turn.onSpoken,
          onClosing: (gone) => closing.push(gone),
        },
      );
      await noteConnection(outcome, { name: domain, address }, performance.now() - startedMs, signal);
      const asked =
        outcome.kind === "answered"
          ? [outcome.target, outcome.madeUp, outcome.control, outcome.repeated].filter(Boolean).length
          : 0;
      // A conversation that broke off may have asked; its questions are not refunded.
      if (outcome.kind !== "failed" || !outcome.hasSpoken) turn.refundAllBut(asked);
      return outcome;
    } finally {
      // The turn ends only when the connection is closed.
      const gone = Promise.all(closing).then(() => turn.end());
      connections.add(gone);
      void gone.then(() => connections.delete(gone));
    }
  }

  async function noteConnection(
    outcome: Outcome,
    { name: domain, address }: Place,
    tookMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const failed = outcome.kind === "failed" && !outcome.hasSpoken ? outcome : null;
    if (failed?.failure === "unreachable") {
      if (isSilence(failed.code) === true) await egress.failed(domain, address, signal);
    } else if (failed?.failure === "aborted") {
      if (tookMs >= TELLING_MS) await egress.failed(domain, address, signal);
    } else {
      egress.connected();
    }
  }

  async function keepWhatWasTold(
    told: ProbeResult,
    local: string,
    domain: string,
    { address }: Place,
    timesGreylisted: number,
  ): Promise<ProbeResult> {
    if (told.acceptsAll !== null)
      await memory.keepAcceptsAll(domain, told.acceptsAll, settings.acceptsAllTtlMs);
    if (told.reason !== "greylisted") return told;
    const times = timesGreylisted + 1;
    const firstMs = told.retryAfterMs ?? settings.greylistMs;
    const retryAfterMs = Math.min(MAX_GREYLIST_MS, firstMs * 2 ** timesGreylisted);
    // If only the made-up name is greylisted, the mailbox is known and needs no retry.
    if (told.mailbox === null) {
      await memory.keepGreylisting(local, domain, { address, times, askAtMs: settings.now() + retryAfterMs });
    }
    return { ...told, retryAfterMs };
  }

  return Object.assign(probe, {
    forget: controls.forget,
    async settled() {
      await Promise.all(connections);
    },
  });
}

/**
 * The first address of each host, then the second ones: a host that is down is usually down at all its
 * addresses.
 */
function placesOf(hosts: readonly MailHost[]): Place[] {
  const most = Math.max(0, ...hosts.map(({ addresses }) => addresses.length));
  return Array.from({ length: most }, (_, index) =>
    hosts.flatMap(({ name, addresses }) => {
      const address = addresses[index];
      return address === undefined ? [] : [{ name, address }];
    }),
  ).flat();
}

/** Puts the given address first: the host that greylisted has recorded this sender. */
function preferred(places: readonly Place[], address: string | undefined): Place[] {
  const first = places.filter((place) => place.address === address);
  return [...first, ...places.filter((place) => place.address !== address)];
}

/** Whether no further host is tried: this one has answered, or refuses this sender. */
function isLast(outcome: Outcome): boolean {
  if (outcome.kind === "answered") return true;
  if (outcome.kind !== "refused") return false;
  return outcome.refusal.reason === "policy" || outcome.refusal.reason === "greylisted";
}

/** Of two results without an answer, keeps the more informative one. */
function keepMoreTelling(one: ProbeResult, other: ProbeResult): ProbeResult {
  const isBetter = one.reason === null || one.reason === "no_connection" || one.server !== true;
  return { ...(isBetter ? other : one), server: one.server === true || other.server === true };
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
