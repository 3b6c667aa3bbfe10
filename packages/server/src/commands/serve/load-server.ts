import { type Part, requireParts } from "../../cli/parts.ts";
import type { ServerSettings } from "../../config/settings.ts";
import { ROLES } from "../../config/targets/storage-target.ts";

/** Loads what a server with these settings consists of. @throws StartError that names all missing packages. */
export async function loadServer(settings: ServerSettings) {
  await requireParts(partsOf(settings));
  const [{ createLog }, { startServer }] = await Promise.all([
    import("./logger.ts"),
    import("./start-server.ts"),
  ]);
  return { createLog, startServer };
}

function partsOf({ storage, lookup, jobQueue }: ServerSettings): Part[] {
  const kinds = ROLES.map((role) => storage[role].kind);
  const drivers = (["redis", "s3"] as const).filter((kind) => kinds.includes(kind));
  return [
    "server",
    ...(lookup === false ? [] : (["lookup"] as const)),
    ...drivers,
    ...(jobQueue === undefined ? [] : (["jobQueue"] as const)),
  ];
}
