import { signal } from "@preact/signals";

const KEPT = 6;

/** The latest messages, which screen readers read out. */
export const messages = signal<readonly { number: number; text: string }[]>([]);

let count = 0;

/** Announces a text. */
export function say(text: string): void {
  count += 1;
  messages.value = [...messages.value, { number: count, text }].slice(-KEPT);
}
