import { abortable } from "../../async/abortable.ts";
import type { Webhook } from "../../http/webhooks.ts";
import type {
  GoneReason,
  ImageEvent,
  ImageEventType,
  ImageSummary,
  StoredEvent,
} from "../record/image-record.ts";
import { webhookData } from "../record/outbox.ts";

/** A receiver of events. */
export interface EventDestination {
  /** The same in all processes. */
  name: string;
  /** Host of a webhook; `null`: code of this process. */
  host: string | null;
  takes(type: ImageEventType): boolean;
  /** `0`: it may get a further event now. Else the delay until a node should look again, in milliseconds. */
  delayMs(): number;
  /** Rejects if the event did not arrive before `signal` aborts. */
  deliver(event: StoredEvent, signal: AbortSignal): Promise<void>;
}

/** Code of this process. Each event calls it at once, as a hook. */
export function codeDestination(
  name: string,
  takes: EventDestination["takes"],
  handle: (event: ImageEvent) => unknown,
): EventDestination {
  return {
    name,
    host: null,
    takes,
    delayMs: () => 0,
    async deliver({ to: _, ...event }, signal) {
      // The record keeps the event: a handler may change its own.
      const handled = (async () => void (await handle(structuredClone(event))))();
      await abortable(handled, signal);
    },
  };
}

/** 30 s to 5 min, so that many events do not come together again. */
export function later(): number {
  return 30_000 + Math.random() * 270_000;
}

/** Deliveries to one webhook at a time, and after this many failures in succession, only one. */
const AT_ONCE = 16;
const FAILING = 5;

export function webhookDestination({ name, host, takes, send }: Webhook): EventDestination {
  let running = 0;
  let failures = 0;
  return {
    name,
    host,
    takes,
    delayMs() {
      if (failures >= FAILING) return running === 0 ? 0 : later();
      return running < AT_ONCE ? 0 : later() / 15;
    },
    async deliver({ to: _, ...event }, signal) {
      running++;
      try {
        const { id, type, at } = event;
        await send({ id, type, at, data: webhookData(event) }, signal);
        failures = 0;
      } catch (error) {
        failures++;
        throw error;
      } finally {
        running--;
      }
    },
  };
}

const STORED: readonly ImageEventType[] = ["image.stored", "image.accepted"];

/** The hooks among the options, as destinations. */
export function hookDestinations({
  onStored,
  onRemoved,
}: {
  onStored: ((image: ImageSummary) => unknown) | undefined;
  onRemoved: ((image: ImageSummary, why: GoneReason) => unknown) | undefined;
}): EventDestination[] {
  const found: EventDestination[] = [];
  if (onStored !== undefined) {
    found.push(
      codeDestination(
        "onStored",
        (type) => STORED.includes(type),
        ({ image }) => onStored(image),
      ),
    );
  }
  if (onRemoved !== undefined) {
    const handle = ({ image, why, wasHeld }: ImageEvent) =>
      // `onStored` was never called for an image that was held.
      why === undefined || why === "refused" || wasHeld === true ? undefined : onRemoved(image, why);
    found.push(codeDestination("onRemoved", (type) => type === "image.removed", handle));
  }
  return found;
}
