import { ServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { beforeDeadline } from "./before-deadline.ts";
import { createServerDriver, type RedisArguments, type RedisReply } from "./redis-driver.ts";
import { sentinelRefusalOf } from "./redis-errors.ts";
import type { RedisAddress, RedisSettings, SentinelSettings } from "./redis-options.ts";

/** How long to wait for the other Sentinels after the first reply, as a share of the time limit. */
const OTHERS_SHARE = 0.25;

/**
 * Queries all Sentinels for the master and takes the reply with the latest configuration epoch: a Sentinel that was
 * cut off still names the old master. Rejects with a `ServiceError` that gives the reason if no Sentinel names a
 * master.
 */
export async function findMaster(
  settings: RedisSettings,
  { name, master }: SentinelSettings,
): Promise<RedisAddress> {
  const { addresses, timeoutMs } = settings;
  const answers: { host: string; port: number; epoch: number }[] = [];
  const failures: unknown[] = [];
  const asking = addresses.map(async (address) => {
    try {
      const fields = fieldsOf(await askOnce(settings, address, ["SENTINEL", "MASTER", name]));
      const [host = "", port = "0", epoch = "0"] = ["ip", "port", "config-epoch"].map((key) =>
        fields.get(key),
      );
      answers.push({ host, port: Number(port), epoch: Number(epoch) });
    } catch (error) {
      failures.push(error);
    }
  });
  await Promise.any(asking.map((asked) => asked.then(() => answers[0] ?? Promise.reject()))).catch(
    () => undefined,
  );
  await beforeDeadline(Promise.all(asking), timeoutMs * OTHERS_SHARE).catch(() => undefined);
  const [latest] = answers.toSorted((a, b) => b.epoch - a.epoch);
  if (latest === undefined) throw whyNone(failures);
  return { ...master, host: latest.host, port: latest.port };
}

/** Sends one command to a server, over a separate connection. */
export async function askOnce(
  settings: RedisSettings,
  address: RedisAddress,
  args: RedisArguments,
): Promise<RedisReply> {
  const driver = createServerDriver({ ...settings, onError: () => undefined }, address, {
    reconnects: false,
  });
  try {
    return await beforeDeadline(
      driver.connected.then(() => driver.send("", args)),
      settings.timeoutMs,
    );
  } finally {
    driver.retire(0);
  }
}

/** Reads a reply of alternating names and values. */
function fieldsOf(reply: RedisReply): Map<string, string> {
  const list = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(list.flatMap((key, index) => (index % 2 === 0 ? [[key, list[index + 1] ?? ""]] : [])));
}

function whyNone(failures: readonly unknown[]): ServiceError {
  const texts = failures.map((error) => (isError(error) ? error.message : String(error)));
  const refusal = sentinelRefusalOf(texts);
  const message = refusal?.message ?? "None of the Redis Sentinels can be reached.";
  return new ServiceError("store_unavailable", message, { cause: failures[refusal?.index ?? 0] });
}
