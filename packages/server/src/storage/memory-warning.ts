import type { SharedTarget } from "../config/targets/storage-target.ts";

/** A sentence about images that do not outlive the process, and one with the remedy; none where they do. */
export function memoryWarning({ target, roles }: SharedTarget): string[] {
  if (target.kind !== "memory" || !roles.includes("records")) return [];
  return [
    "All images are in memory: they are gone when the process ends. To keep them, set storage or data, or leave both away.",
  ];
}
