import type { Call } from "../../contracts/call.ts";
import { isServiceError } from "../../errors.ts";
import { FairGate } from "../../http/fair-gate.ts";
import { type ListParser, ListRows, type ReadList, TextInput } from "../verifications/list-rows.ts";
import { parseAddresses } from "../verifications/read-addresses.ts";
import { parseTable } from "../verifications/read-table.ts";
import { type LookupErrorId, RefusedRequest, retryAfter } from "./refusal.ts";

const CSV = "text/csv";
const TYPES = [CSV, "application/json"];
const IDLE_MS = 15_000;
/** A list must arrive within this time: its rows are in memory until then. */
const DEADLINE_MS = 300_000;
/** Longest part of a list that is parsed while other requests wait. */
const SLICE_MS = 5;
const LONGEST_WAIT_MS = 15_000;
const MAX_WAITING = 1000;
/** Memory of all lists that are being read. The largest list takes four fifths of it. */
const MAX_HELD_BYTES = 80 * 1024 * 1024;
/** Memory of a list besides its rows. */
const LIST_BYTES = 4096;
const RETRY_AFTER_MS = 2000;

/** A list that is being read. */
interface OpenList {
  client: string;
  rows: ListRows;
  input: TextInput;
  /** Its part of the memory of all lists. */
  bytes: number;
  /** `stored`: its rows are complete, and on their way into the queue. */
  state: "arriving" | "stored" | "refused";
}

/** Reads lists: in short slices, in the order of the fair gate, and within a bound of memory for all of them. */
export class ListReader {
  readonly #gate = new FairGate({ slots: 1, maxQueue: MAX_WAITING, refuse: busy });
  /** In order of arrival. */
  readonly #open = new Set<OpenList>();
  /** Memory of all open lists. */
  #held = 0;

  /**
   * Reads the list of a request, and stores it. Rejects with {@link RefusedRequest}, and with `wrong_params` at the first row
   * that is not valid or beyond a bound.
   * @param client whose lists take turns with those of others.
   */
  async read<T>(
    call: Call,
    client: string,
    { maxBytes, maxRows }: { maxBytes: number; maxRows: number },
    store: (list: ReadList) => Promise<T>,
  ): Promise<T> {
    const rows = new ListRows(maxRows);
    const list: OpenList = { client, rows, input: new TextInput(), bytes: 0, state: "arriving" };
    const endMs = performance.now() + DEADLINE_MS;
    let parser: ListParser | undefined;
    this.#open.add(list);
    try {
      await call.text(TYPES, { maxBytes, idleMs: IDLE_MS }, async (text, type) => {
        if (performance.now() > endMs) throw late();
        parser ??= (type === CSV ? parseTable : parseAddresses)(list.input, list.rows);
        list.input.add(text);
        await this.#parse(list, parser, call.signal);
      });
      if (parser === undefined) throw new RefusedRequest("wrong_params", NO_BODY);
      list.input.isComplete = true;
      await this.#parse(list, parser, call.signal);
      list.state = "stored";
      return await store(list.rows.requireRows());
    } catch (error) {
      throw bodyRefusal(error);
    } finally {
      this.#open.delete(list);
      this.#count(list);
    }
  }

  /** Parses what has arrived. */
  async #parse(list: OpenList, parser: ListParser, signal: AbortSignal): Promise<void> {
    for (let mayGoOn = true; mayGoOn; ) {
      this.#count(list);
      this.#makeRoom();
      const slot = await this.#gate.enter(list.client, { signal, maxWaitMs: LONGEST_WAIT_MS });
      const startMs = performance.now();
      try {
        if (list.state === "refused") throw busy();
        do mayGoOn = parser.next().value === true;
        while (mayGoOn && performance.now() < startMs + SLICE_MS);
      } finally {
        slot.charge(performance.now() - startMs);
        slot.leave();
        this.#count(list);
      }
    }
  }

  /** Called whenever a list has changed. */
  #count(list: OpenList): void {
    const { rows, input } = list;
    const bytes = this.#open.has(list) ? LIST_BYTES + rows.bytes + 2 * input.text.length : 0;
    this.#held += bytes - list.bytes;
    list.bytes = bytes;
  }

  /** Refuses the newest list of the client whose lists use most memory, until all are within the bound. */
  #makeRoom(): void {
    if (this.#held <= MAX_HELD_BYTES) return;
    const held = new Map<string, number>();
    for (const { client, bytes } of this.#open) held.set(client, (held.get(client) ?? 0) + bytes);
    const arriving = [...this.#open].filter(({ state }) => state === "arriving").reverse();
    const [first] = arriving.sort((a, b) => (held.get(b.client) ?? 0) - (held.get(a.client) ?? 0));
    if (first === undefined) return;
    first.state = "refused";
    // Its parser keeps both until the next part arrives.
    first.rows.rows = [];
    first.input.text = "";
    this.#open.delete(first);
    this.#count(first);
    this.#makeRoom();
  }
}

/** The errors of a body, and their IDs. Any other error is a failure of the service. */
const BODY_ERRORS: Readonly<Record<string, LookupErrorId>> = {
  bad_request: "wrong_params",
  timeout: "timeout",
  too_large: "too_large",
  unsupported_media: "unsupported_media",
};

/** The refusal of a body that could not be read; any other error unchanged. */
export function bodyRefusal(error: unknown): unknown {
  const id = isServiceError(error) && !("id" in error) ? BODY_ERRORS[error.code] : undefined;
  return isServiceError(error) && id !== undefined ? new RefusedRequest(id, error.message) : error;
}

const NO_BODY = "The request has no body: send text/csv or application/json";

function late(): RefusedRequest {
  return new RefusedRequest("timeout", `The list did not arrive within ${DEADLINE_MS / 1000} seconds`);
}

function busy(): RefusedRequest {
  return new RefusedRequest("unavailable", "Too many lists arrive at once", retryAfter(RETRY_AFTER_MS));
}
