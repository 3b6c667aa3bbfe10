import { abortable } from "../../async/abortable.ts";
import { type Throttled, throttled } from "../../http/deliveries.ts";
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
export interface EventDestination extends Throttled<StoredEvent> {
  /** The same in all processes. */
  name: string;
  /** Host of a webhook; `null`: code of this process. */
  host: string | null;
  takes(type: ImageEventType): boolean;
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
    ...throttled<StoredEvent>(async ({ to: _, ...event }, signal) => {
      // The record keeps the event: a handler may change its own.
      const handled = (async () => void (await handle(structuredClone(event))))();
      await abortable(handled, signal);
    }),
  };
}

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
