import { isError, isServiceError } from "@outrigger/core";
import type { RedisConnection } from "../connection/redis-connection.ts";
import type { RedisNode, RedisReply } from "../connection/redis-driver.ts";

/** What about its servers makes a store lose what it was given, each with its remedy. */
export async function warningsOf(connection: RedisConnection): Promise<string[]> {
  const nodes = await connection.nodes();
  return (await Promise.all(nodes.map(warningsOfNode))).flat();
}

async function warningsOfNode({ id, send }: RedisNode): Promise<string[]> {
  const server = id === "" ? "The Redis server" : `The Redis node ${id}`;
  const settings = new Map<string, string>();
  try {
    for (const name of ["maxmemory", "maxmemory-policy", "save", "appendonly", "min-replicas-to-write"]) {
      const [key, value] = ((await send(["CONFIG", "GET", name])) ?? []) as Buffer[]; // As CONFIG GET answers.
      if (key !== undefined) settings.set(String(key), String(value));
    }
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const policy = settings.get("maxmemory-policy");
  if (policy === undefined) {
    return [
      `${server} does not show its settings: whether it evicts keys and keeps its data could not be checked. ` +
        "Allow its user `CONFIG GET`, or make sure of `maxmemory-policy noeviction` and `appendonly yes`.",
    ];
  }
  const warnings: string[] = [];
  if (settings.get("maxmemory") !== "0" && policy !== "noeviction") {
    warnings.push(
      `${server} is an evicting cache (maxmemory-policy ${policy}): when its memory is full, it drops images without a word. ` +
        "Set `maxmemory-policy noeviction`.",
    );
  }
  if (settings.get("appendonly") !== "yes") {
    warnings.push(
      (settings.get("save") ?? "") === ""
        ? `${server} keeps nothing on disk: a restart loses everything. Set \`appendonly yes\`.`
        : `${server} keeps only snapshots on disk: a crash loses what came after the last one. Set \`appendonly yes\`.`,
    );
  }
  if (settings.get("min-replicas-to-write") === "0" && (await hasReplicas(send))) {
    warnings.push(
      `${server} has replicas and acknowledges writes that none of them has: a fail-over loses these. ` +
        "Set `min-replicas-to-write 1` on every server, with `min-replicas-max-lag`.",
    );
  }
  return warnings;
}

/** Whether replicas are connected; not where the user may not ask. */
async function hasReplicas(send: RedisNode["send"]): Promise<boolean> {
  try {
    const [, , replicas] = ((await send(["ROLE"])) ?? []) as RedisReply[]; // As ROLE answers.
    return Array.isArray(replicas) && replicas.length > 0;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
}

function isRefused(error: unknown): boolean {
  return isServiceError(error) && isError(error.cause) && /^(?:NOPERM|ERR) /.test(error.cause.message);
}
