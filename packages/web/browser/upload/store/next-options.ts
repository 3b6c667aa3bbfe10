import { effect, type Signal, signal } from "@preact/signals";
import { lifetimeChoices } from "../../../src/time-left.ts";
import { expiresAtField, type Lifetime, type LifetimeBounds } from "../lifetimes.ts";

/** Options of the next uploads. */
export interface NextOptions {
  /** Empty: the file name. */
  name: Signal<string>;
  /** This browser remembers a duration, but not a date. */
  lifetime: Signal<Lifetime>;
  /** Name for the file at `index` of its batch. */
  nameFor(file: File, index: number): string;
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
  return {
    name,
    lifetime,
    nameFor(file, index) {
      const wanted = name.value.trim();
      if (wanted === "") return file.name;
      const number = index === 0 ? "" : ` (${index + 1})`;
      return wanted.slice(0, MAX_NAME_LENGTH - number.length) + number;
    },
    expiresAt: () => expiresAtField(lifetime.value, Date.now(), bounds),
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
