import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import type { RedisConnection } from "../connection/redis-connection.ts";
import type { RedisNode, RedisReply } from "../connection/redis-driver.ts";

/** Settings of the servers that make a store lose data, each with its remedy. */
export async function warningsOf(connection: RedisConnection): Promise<string[]> {
  const nodes = await connection.nodes();
  return (await Promise.all(nodes.map(warningsOfNode))).flat();
}

async function warningsOfNode({ id, send }: RedisNode): Promise<string[]> {
  const server = id === "" ? "The Redis server" : `The Redis node ${id}`;
  const settings = new Map<string, string>();
  try {
    for (const name of ["maxmemory", "maxmemory-policy", "save", "appendonly", "min-replicas-to-write"]) {
      const [key, value] = ((await send(["CONFIG", "GET", name])) ?? []) as Buffer[]; // The reply of CONFIG GET.
      if (key !== undefined) settings.set(String(key), String(value));
    }
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  const policy = settings.get("maxmemory-policy");
  if (policy === undefined) {
    return [
      `${server} does not show its settings: eviction and persistence could not be checked. ` +
        "Allow its user `CONFIG GET`, or verify `maxmemory-policy noeviction` and `appendonly yes` yourself.",
    ];
  }
  const warnings: string[] = [];
  if (settings.get("maxmemory") !== "0" && policy !== "noeviction") {
    warnings.push(
      `${server} is an evicting cache (maxmemory-policy ${policy}): when its memory is full, it deletes images silently. ` +
        "Set `maxmemory-policy noeviction`.",
    );
  }
  if (settings.get("appendonly") !== "yes") {
    warnings.push(
      (settings.get("save") ?? "") === ""
        ? `${server} keeps nothing on disk: a restart loses everything. Set \`appendonly yes\`.`
        : `${server} keeps only snapshots on disk: a crash loses all writes after the last one. Set \`appendonly yes\`.`,
    );
  }
  if (settings.get("min-replicas-to-write") === "0" && (await hasReplicas(send))) {
    warnings.push(
      `${server} has replicas but acknowledges writes before any of them has received them: a fail-over loses these writes. ` +
        "Set `min-replicas-to-write 1` on every server, with `min-replicas-max-lag`.",
    );
  }
  return warnings;
}

/** Whether replicas are connected; `false` if the user lacks the permission for ROLE. */
async function hasReplicas(send: RedisNode["send"]): Promise<boolean> {
  try {
    const [, , replicas] = ((await send(["ROLE"])) ?? []) as RedisReply[]; // The reply of ROLE.
    return Array.isArray(replicas) && replicas.length > 0;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
}

function isRefused(error: unknown): boolean {
  return isServiceError(error) && isError(error.cause) && /^(?:NOPERM|ERR) /.test(error.cause.message);
}
