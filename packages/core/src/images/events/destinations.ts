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

/** The hooks among the options, as destinations. */
export function hookDestinations({
  onStored,
  onRemoved,
}: {
  onStored: ((image: ImageSummary) => unknown) | undefined;
  onRemoved: ((image: ImageSummary, why: GoneReason) => unknown) | undefined;
}): EventDestination[] {
  const isStored = (type: ImageEventType) => type === "image.stored" || type === "image.accepted";
  const isRemoved = (type: ImageEventType) => type === "image.removed";
  // `onStored` was never called for an image that was held.
  const removed = ({ image, why, wasHeld }: ImageEvent) =>
    why === undefined || why === "refused" || wasHeld ? undefined : onRemoved?.(image, why);
  return [
    ...(onStored ? [codeDestination("onStored", isStored, ({ image }) => onStored(image))] : []),
    ...(onRemoved ? [codeDestination("onRemoved", isRemoved, removed)] : []),
  ];
}
