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
  /** For an event that waited: `0`: it may get it now. Else the delay until a node should look again, in milliseconds. */
  delayMs(): number;
  /** Rejects if the event did not arrive before `signal` aborts. */
  deliver(event: StoredEvent, signal: AbortSignal): Promise<void>;
}

/** Code of this process. Each new event calls it at once, as a hook. */
export function codeDestination(
  name: string,
  takes: EventDestination["takes"],
  handle: (event: ImageEvent) => unknown,
): EventDestination {
  return {
    name,
    host: null,
    takes,
    ...throttled(async ({ to: _, ...event }, signal) => {
      // The record keeps the event: a handler may change its own.
      const handled = (async () => void (await handle(structuredClone(event))))();
      await abortable(handled, signal);
    }),
  };
}

/** 30 s to 5 min, so that many events do not come together again. */
export function later(): number {
  return 30_000 + Math.random() * 270_000;
}

/** Deliveries of events that waited to one receiver at a time. After this many failures in succession, a webhook gets only one. */
const AT_ONCE = 16;
const FAILING = 5;
/** Most delay for events behind a webhook that fails, as a multiple of {@link later}: an hour, after an hour of failures. */
const MAX_GROWTH = 12;

export function webhookDestination(
  { name, host, takes, send }: Webhook,
  now: () => number,
): EventDestination {
  const deliver: EventDestination["deliver"] = async ({ to: _, ...event }, signal) => {
    const { id, type, at } = event;
    await send({ id, type, at, data: webhookData(event) }, signal);
  };
  return { name, host, takes, ...throttled(deliver, now) };
}

/** @param now Clock of a webhook. @default the receiver is code: its failures slow nothing */
function throttled(
  deliver: EventDestination["deliver"],
  now?: () => number,
): Pick<EventDestination, "delayMs" | "deliver"> {
  let running = 0;
  let failures = 0;
  let failingSince = 0;
  return {
    delayMs() {
      if (now === undefined || failures < FAILING) return running < AT_ONCE ? 0 : later() / 15;
      if (running === 0) return 0;
      // Each look at an image is a write.
      const growth = (now() - failingSince) / (5 * 60_000);
      return later() * Math.min(Math.max(1, growth), MAX_GROWTH);
    },
    async deliver(event, signal) {
      running++;
      try {
        await deliver(event, signal);
        failures = 0;
      } catch (error) {
        if (failures === 0) failingSince = now?.() ?? 0;
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
