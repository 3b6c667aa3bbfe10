import { type ReadonlySignal, signal } from "@preact/signals";

/** One announced event. */
export interface Message {
  number: number;
  text: string;
}

/** Messages that screen readers read out. */
export interface MessageLog {
  /** The latest few. */
  messages: ReadonlySignal<readonly Message[]>;
  say(text: string): void;
}

const KEPT = 6;

export function createMessageLog(): MessageLog {
  const messages = signal<readonly Message[]>([]);
  let count = 0;
  return {
    messages,
    say(text) {
      count += 1;
      messages.value = [...messages.value, { number: count, text }].slice(-KEPT);
    },
  };
}
