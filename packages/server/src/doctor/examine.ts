import { createRenderer } from "@outrigger/imaging";
import type { ServerSettings } from "../settings.ts";
import { checkFonts } from "./check-fonts.ts";
import { checkNode } from "./check-node.ts";
import { checkRenderer } from "./check-renderer.ts";
import { checkSecret } from "./check-secret.ts";
import { checkStorage } from "./check-storage.ts";
import type { Finding } from "./finding.ts";

/** Looks at everything that a server with these settings needs, and leaves nothing behind. */
export async function* examine({ data, secret, renderer: options }: ServerSettings): AsyncGenerator<Finding> {
  yield checkNode();
  yield* await checkStorage(data);
  yield await checkSecret(data, secret !== undefined);
  const renderer = createRenderer(options);
  try {
    yield* await checkRenderer(renderer);
    yield* await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}
