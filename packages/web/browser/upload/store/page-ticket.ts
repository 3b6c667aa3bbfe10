import { computed, signal } from "@preact/signals";
import { t } from "../../../src/texts.ts";
import type { UploadConfig } from "../config.ts";

/** What a ticket fixes, as the service tells it. `null`: the uploader chooses. */
interface TicketTerms {
  /** ISO 8601, or `never`. */
  expiresAt: string | null;
  name: string | null;
  types: readonly string[] | null;
  maxBytes: number | null;
}

/** Files wait this long for the terms. */
const PATIENCE_MS = 10_000;

/** The upload ticket of the page. It permits one upload. */
export class PageTicket {
  /** `asking`: the terms are not known yet. `used`, `over`: it permits no further upload. */
  readonly state = signal<"none" | "asking" | "open" | "used" | "over">("none");
  /** `null`: there is no ticket, or the service did not tell them. */
  readonly terms = signal<TicketTerms | null>(null);
  /** Resolves when the terms are known, or stay unknown. */
  known = Promise.resolve();
  /** The limits of the next upload: those of the service, and of the ticket. */
  readonly limits = computed(() => {
    const { types, maxUploadBytes } = this.#config;
    const { types: fixed, maxBytes } = this.terms.value ?? {};
    return {
      types: types.filter((type) => fixed?.includes(type) ?? true),
      maxUploadBytes: Math.min(maxUploadBytes, maxBytes ?? maxUploadBytes),
    };
  });
  readonly #config: UploadConfig;
  #text: string | undefined;

  constructor(config: UploadConfig) {
    this.#config = config;
  }

  /** `undefined`: there is none, or it has ended. */
  get text(): string | undefined {
    return this.#text;
  }

  /** Takes a ticket in place of an earlier one. It leaves the address, which people copy, for the state, which survives a reload. */
  take(text: string): void {
    this.#text = text;
    this.state.value = "asking";
    this.terms.value = null;
    history.replaceState({ ticket: text }, "", location.pathname + location.search);
    this.known = this.ask(text);
  }

  /** Ends a ticket, also for a reload, unless another one came since. */
  end(text: string | undefined, state: "used" | "over"): void {
    if (text === undefined || text !== this.#text) return;
    this.#text = undefined;
    this.state.value = state;
    history.replaceState(null, "");
  }

  /** Why the page takes no file, for a person; `null` while it does. */
  endText(): string | null {
    const { value } = this.state;
    if (value === "used") return t("uploads.ticketUsed");
    return value === "over" ? t("uploads.ticketOver") : null;
  }

  /** Asks the service for the terms. Without a reply, it alone knows them, and checks them at the upload. Never rejects. */
  async ask(text: string): Promise<void> {
    try {
      const address = `${this.#config.baseUrl}/api/tickets.json?ticket=${text}`;
      const reply = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
      if (reply.status === 403) return this.end(text, "over");
      const { used, ...terms } = await reply.json();
      if (used === true) this.end(text, "used");
      else if (used === false && text === this.#text) this.terms.value = terms;
    } catch {
      // The network failed, or something else than the service replied.
    } finally {
      if (text === this.#text) this.state.value = "open";
    }
  }
}
