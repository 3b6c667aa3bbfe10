import { computed, signal } from "@preact/signals";
import type { TextKey } from "../../../src/texts.ts";
import type { UploadConfig } from "../config.ts";

/** What a ticket fixes. Absent or `null`: the uploader chooses. */
interface TicketTerms {
  /** ISO 8601, or `never`. */
  expiresAt?: string | null;
  name?: string | null;
  types?: readonly string[] | null;
  maxBytes?: number | null;
}

interface TicketState {
  /** The ticket. Absent: there is none, or it has ended. */
  text?: string;
  /** Absent until the service has told them, or has not. */
  terms?: TicketTerms;
  /** Why the ticket permits no upload. */
  end?: TextKey;
}

/** Files wait this long for the terms. */
const PATIENCE_MS = 10_000;

/** The upload ticket of the page. It permits one upload. */
export class PageTicket {
  readonly state = signal<TicketState>({});
  /** Resolves when the terms are known, or stay unknown. */
  known = Promise.resolve();
  /** The limits of the next upload: those of the service, and of the ticket. */
  readonly limits = computed(() => {
    const { types, maxUploadBytes } = this.#config;
    const { types: fixed, maxBytes } = this.state.value.terms ?? {};
    return {
      types: types.filter((type) => fixed?.includes(type) ?? true),
      maxUploadBytes: Math.min(maxUploadBytes, maxBytes ?? maxUploadBytes),
    };
  });
  readonly #config: UploadConfig;

  constructor(config: UploadConfig) {
    this.#config = config;
  }

  /** Takes a ticket in place of an earlier one. It leaves the address, which people copy, for the state, which survives a reload. */
  take(text: string): void {
    this.state.value = { text };
    history.replaceState({ ticket: text }, "", location.pathname + location.search);
    this.known = this.ask(text);
  }

  /** Sets the terms or the end of a ticket, unless another one came since. An ended one is forgotten, also for a reload. */
  set(text: string | undefined, { terms, end }: Pick<TicketState, "terms" | "end">): void {
    if (text === undefined || text !== this.state.value.text) return;
    if (end !== undefined) history.replaceState(null, "");
    this.state.value = end === undefined ? { text, terms: terms ?? {} } : { end };
  }

  /** Asks the service for the terms. If it does not tell them, it alone applies them. Never rejects. */
  async ask(text: string): Promise<void> {
    try {
      const address = `${this.#config.baseUrl}/api/tickets.json?ticket=${text}`;
      const reply = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
      if (reply.status === 403) return this.set(text, { end: "uploads.ticketOver" });
      const { used, ...terms } = await reply.json();
      this.set(text, used === true ? { end: "uploads.ticketUsed" } : used === false ? { terms } : {});
    } catch {
      // The network failed, or something else than the service replied.
      this.set(text, {});
    }
  }
}
