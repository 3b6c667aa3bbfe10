import { createRenderer } from "@outrigger/imaging";
import type { ServerSettings } from "../../config/settings.ts";
import { distinctTargets } from "../../config/targets/storage-target.ts";
import { checkFonts } from "./check-fonts.ts";
import { checkLeases } from "./check-leases.ts";
import { checkLookup } from "./check-lookup.ts";
import { checkNode } from "./check-node.ts";
import { checkOpenFiles } from "./check-open-files.ts";
import { checkRenderer } from "./check-renderer.ts";
import { checkSecret } from "./check-secret.ts";
import { checkSizes } from "./check-sizes.ts";
import { checkTarget } from "./check-target.ts";
import { checkTimeOuts } from "./check-time-outs.ts";
import type { Finding } from "./finding.ts";

/** Looks at everything that a server with these settings needs, and leaves nothing behind. */
export async function* examine(settings: ServerSettings): AsyncGenerator<Finding> {
  const { storage, secret, lookup, renderer: options } = settings;
  yield checkNode();
  yield* checkOpenFiles();
  for (const shared of distinctTargets(storage)) yield* await checkTarget(shared);
  yield* await checkLeases(storage);
  yield await checkSecret(storage.records, secret !== undefined);
  yield* checkTimeOuts(settings);
  yield checkSizes(settings);
  if (lookup !== false) yield* await checkLookup(lookup);
  const renderer = createRenderer(options);
  try {
    yield* await checkRenderer(renderer);
    yield* await checkFonts(renderer);
  } finally {
    await renderer.close();
  }
}
