import { type ImagesClient, OutriggerError } from "@outrigger/client";
import { isGone, reasonOf } from "./image-actions.ts";

const PAUSE_MS = 5_000;

/** Resolves when an image can be served: with `null`, or with the reason why it never will. */
export async function waitUntilServed(client: ImagesClient, id: string): Promise<string | null> {
  for (;;) {
    try {
      await client.waitUntilReady(id);
      return null;
    } catch (error) {
      const mayComeBack = error instanceof OutriggerError && !isGone(error) && error.status !== 451;
      if (!mayComeBack) return reasonOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
