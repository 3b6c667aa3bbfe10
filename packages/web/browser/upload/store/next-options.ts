import { type Signal, signal } from "@preact/signals";
import { expiresAtField, type Lifetime, type LifetimeBounds } from "../lifetimes.ts";

/** Options of the next uploads. */
export interface NextOptions {
  /** Empty: the file name. */
  name: Signal<string>;
  lifetime: Signal<Lifetime>;
  /** Name for the file at `index` of its batch. */
  nameFor(file: File, index: number): string;
  /** Form field. */
  expiresAt(): string;
}

export const MAX_NAME_LENGTH = 255;

export function createNextOptions(bounds: LifetimeBounds): NextOptions {
  const name = signal("");
  const lifetime = signal<Lifetime>({ kind: "for", ms: bounds.defaultLifetimeMs });
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
