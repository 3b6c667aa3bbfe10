import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { lifetimeChoices } from "../../../src/time-left.ts";
import { serverNow } from "../../saved/server-clock.ts";
import { expiresAtField, type Lifetime, type LifetimeBounds, lifetimeFault } from "../lifetimes.ts";

/** Options of the next uploads. */
export interface NextOptions {
  /** Empty: the file name. */
  name: Signal<string>;
  /** This browser remembers a duration, but not a date. */
  lifetime: Signal<Lifetime>;
  /** Name for the file at `index` of its batch. */
  nameFor(file: File, index: number): string;
  /** Why nothing can be sent with the chosen lifetime, for a person; `null` if it can. */
  fault(): string | null;
  /** Calls `send` once the lifetime has no fault; at once for no files. */
  whenValid(files: number, send: () => void): void;
  /** Files that wait for a lifetime without a fault. */
  waiting: ReadonlySignal<number>;
  /** Form field. */
  expiresAt(): string;
}

export const MAX_NAME_LENGTH = 255;

/** @param baseUrl of the service: each has its own choices. */
export function createNextOptions(bounds: LifetimeBounds, baseUrl: string): NextOptions {
  const key = `outrigger lifetime ${baseUrl}`;
  const name = signal("");
  const lifetime = signal<Lifetime>({ kind: "for", ms: rememberedLifetime(key, bounds) });
  effect(() => {
    const chosen = lifetime.value;
    if (chosen.kind === "for") rememberLifetime(key, chosen.ms, bounds);
  });
  const fault = () => lifetimeFault(lifetime.value, serverNow(), bounds);
  const waiting = signal(0);
  let sends: (() => void)[] = [];
  /** The last one without a fault: of files that were accepted with it, and are sent later. */
  let valid = lifetime.peek();
  effect(() => {
    if (fault() !== null) return;
    valid = lifetime.value;
    const ready = sends;
    sends = [];
    waiting.value = 0;
    for (const send of ready) send();
  });
  return {
    name,
    lifetime,
    nameFor(file, index) {
      const wanted = name.value.trim();
      if (wanted === "") return file.name;
      const number = index === 0 ? "" : ` (${index + 1})`;
      return wanted.slice(0, MAX_NAME_LENGTH - number.length) + number;
    },
    fault,
    waiting,
    whenValid(files, send) {
      if (files === 0 || fault() === null) return send();
      sends.push(send);
      waiting.value += files;
    },
    expiresAt: () => expiresAtField(valid, serverNow(), bounds),
  };
}

function rememberedLifetime(key: string, bounds: LifetimeBounds): number {
  try {
    const ms = Number(localStorage.getItem(key));
    // The service may offer other lifetimes since.
    if (lifetimeChoices(bounds).includes(ms)) return ms;
  } catch {
    // The browser forbids storage.
  }
  return bounds.defaultLifetimeMs;
}

function rememberLifetime(key: string, ms: number, { defaultLifetimeMs }: LifetimeBounds): void {
  try {
    if (ms === defaultLifetimeMs) localStorage.removeItem(key);
    else localStorage.setItem(key, String(ms));
  } catch {
    // Forbidden or full: the choice lasts as long as the page.
  }
}
