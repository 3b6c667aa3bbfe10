import { effect, signal } from "@preact/signals";
import { dateText, t } from "../../../src/texts.ts";
import { durationText, lifetimeChoices } from "../../../src/time-left.ts";
import { serverNow } from "../../saved/server-clock.ts";

const MINUTE_MS = 60_000;
/** Margin for clocks that differ: the service refuses a date beyond the longest lifetime. */
const LONGEST_MARGIN_MS = 5 * MINUTE_MS;

export const MAX_NAME_LENGTH = 255;

/** Lifetime of the next uploads: a duration in milliseconds (`Infinity`: no end), or until the value of a `datetime-local` field, also a wrong one. */
export type Lifetime = { kind: "for"; ms: number } | { kind: "until"; text: string };

/** Lifetimes that the service sets, milliseconds. `Infinity`: no end. */
export interface LifetimeBounds {
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** The latest expiry that the service accepts now, Unix milliseconds. `Infinity` gives `Infinity`. */
export function latestExpiry(nowMs: number, maxLifetimeMs: number): number {
  return nowMs + maxLifetimeMs - Math.min(LONGEST_MARGIN_MS, maxLifetimeMs / 2);
}

/** Why the service would refuse a lifetime, for a person; `null` if it accepts it. */
export function lifetimeFault(
  lifetime: Lifetime,
  nowMs: number,
  { maxLifetimeMs }: Pick<LifetimeBounds, "maxLifetimeMs">,
): string | null {
  if (lifetime.kind === "for") return null;
  const atMs = new Date(lifetime.text).getTime();
  if (Number.isNaN(atMs)) return t("uploads.dateMissing");
  if (atMs <= nowMs) return t("uploads.datePast");
  const latestMs = latestExpiry(nowMs, maxLifetimeMs);
  if (atMs <= latestMs) return null;
  return t("uploads.dateTooLate", { duration: durationText(maxLifetimeMs), date: dateText(latestMs) });
}

/** The expiry for a lifetime without a fault, ISO 8601. `undefined`: the default, which the service computes. `null`: never. */
export function expiryOf(
  lifetime: Lifetime,
  nowMs: number,
  bounds: LifetimeBounds,
): string | null | undefined {
  if (lifetime.kind === "until") return new Date(lifetime.text).toISOString();
  if (lifetime.ms === bounds.defaultLifetimeMs) return undefined;
  if (lifetime.ms === Number.POSITIVE_INFINITY) return null;
  return new Date(Math.min(nowMs + lifetime.ms, latestExpiry(nowMs, bounds.maxLifetimeMs))).toISOString();
}

/** Value of `<input type="datetime-local">`: local time without a zone, to the minute. */
export function localDateValue(ms: number): string {
  const shifted = ms - new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(shifted).toISOString().slice(0, 16);
}

/** Name and lifetime of the next uploads. */
export class NextOptions {
  /** Empty: the file name. */
  readonly name = signal("");
  /** This browser remembers a duration, but not a date. */
  readonly lifetime = signal<Lifetime>({ kind: "for", ms: 0 });
  /** Files that wait for a lifetime without a fault. */
  readonly waiting = signal(0);
  readonly #bounds: LifetimeBounds;
  readonly #key: string;
  #sends: (() => void)[] = [];

  /** @param baseUrl of the service: each has its own choices. */
  constructor(bounds: LifetimeBounds, baseUrl: string) {
    this.#bounds = bounds;
    this.#key = `outrigger lifetime ${baseUrl}`;
    this.lifetime.value = { kind: "for", ms: this.#remembered() };
    effect(() => {
      if (this.lifetime.value.kind === "for") this.#remember(this.lifetime.value.ms);
      if (this.fault() !== null) return;
      const ready = this.#sends;
      this.#sends = [];
      this.waiting.value = 0;
      for (const send of ready) send();
    });
  }

  /** Name for the file at `index` of its batch. */
  nameFor(file: Pick<File, "name">, index: number): string {
    const wanted = this.name.value.trim();
    if (wanted === "") return file.name;
    const number = index === 0 ? "" : ` (${index + 1})`;
    return wanted.slice(0, MAX_NAME_LENGTH - number.length) + number;
  }

  /** Why nothing can be sent with the chosen lifetime, for a person; `null` if it can. */
  fault(): string | null {
    return lifetimeFault(this.lifetime.value, serverNow(), this.#bounds);
  }

  /** Calls `send` once the lifetime has no fault. */
  whenValid(files: number, send: () => void): void {
    if (this.fault() === null) send();
    else {
      this.#sends.push(send);
      this.waiting.value += files;
    }
  }

  #remembered(): number {
    try {
      const ms = Number(localStorage.getItem(this.#key));
      // The service may offer other lifetimes since.
      if (lifetimeChoices(this.#bounds).includes(ms)) return ms;
    } catch {
      // The browser forbids storage.
    }
    return this.#bounds.defaultLifetimeMs;
  }

  #remember(ms: number): void {
    try {
      if (ms === this.#bounds.defaultLifetimeMs) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, String(ms));
    } catch {
      // Forbidden or full: the choice lasts as long as the page.
    }
  }
}
