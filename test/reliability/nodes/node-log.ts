import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** An entry in a node's log. */
export interface NodeEvent {
  pid: number;
  /** The start of a render or an admission, or a failure that no client saw. */
  event: "render" | "admit" | "error";
  /** Format and width, SHA-256 of the file, or the failure. */
  what: string;
}

/** All entries that the nodes of a directory have logged so far. */
export async function eventsOf(directory: string, event: NodeEvent["event"]): Promise<NodeEvent[]> {
  const text = await readFile(join(directory, "log"), "utf8").catch((error) => {
    // No node has logged anything yet.
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const events = text.split("\n").filter((line) => line !== "");
  return events.map((line) => JSON.parse(line) as NodeEvent).filter((each) => each.event === event); // As node.mjs writes it.
}

/** While the file exists, renders or admissions wait after their log entry, or renders are refused. */
export type Gate = "hold-render" | "hold-admit" | "refuse-render";

export function closeGate(directory: string, gate: Gate): Promise<void> {
  return writeFile(join(directory, gate), "");
}

export function openGate(directory: string, gate: Gate): Promise<void> {
  return rm(join(directory, gate));
}
