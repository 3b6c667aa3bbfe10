import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a node wrote down. */
export interface NodeEvent {
  pid: number;
  /** A picture that is about to be rendered or taken in; a failure that no client heard of. */
  event: "render" | "admit" | "error";
  /** Format and width, SHA-256 of the file, or the failure. */
  what: string;
}

/** Everything that the nodes of a directory have written down so far. */
export async function eventsOf(directory: string, event: NodeEvent["event"]): Promise<NodeEvent[]> {
  const text = await readFile(join(directory, "log"), "utf8").catch((error) => {
    // No node has written anything yet.
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const events = text.split("\n").filter((line) => line !== "");
  return events.map((line) => JSON.parse(line) as NodeEvent).filter((each) => each.event === event); // As node.mjs writes it.
}

/** While it is there, renders or admissions wait after they were written down; or renders are refused. */
export type Gate = "hold-render" | "hold-admit" | "refuse-render";

export function closeGate(directory: string, gate: Gate): Promise<void> {
  return writeFile(join(directory, gate), "");
}

export function openGate(directory: string, gate: Gate): Promise<void> {
  return rm(join(directory, gate));
}
