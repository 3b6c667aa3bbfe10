import { randomBytes } from "node:crypto";
import { GetBucketVersioningCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { isRefusedCondition, statusOf } from "./s3-errors.ts";
import { removeObject, type S3Context } from "./s3-objects.ts";
import type { S3Capabilities } from "./s3-options.ts";
import { etagOf } from "./s3-revision.ts";

/** The capabilities, and the form of an ETag that the service accepts in `If-Match`. */
export interface ProbedCapabilities extends S3Capabilities {
  ifMatch(etag: string): string;
}

/**
 * The new ETag; "refused" if the condition did not hold; "unknown" if the service does not support such
 * conditions.
 */
type ProbeResult = { etag: string } | "refused" | "unknown";

const FORMS = [(etag: string) => `"${etag}"`, (etag: string) => etag] as const;

/**
 * Probes with an object of a random name, which it deletes: five or six requests, one more if a condition is
 * missing.
 */
export function probeCapabilities(context: S3Context): Promise<ProbedCapabilities> {
  let requests = 0;
  // Retried as a whole: if a single request were repeated, its first attempt might have changed the ETag.
  const probing = context.attempts.run(
    async ({ signal }) => {
      const key = `${context.settings.prefix}probe/${randomBytes(12).toString("hex")}`;
      const put = (condition: { IfMatch?: string; IfNoneMatch?: string }) => {
        requests++;
        return probe(context, key, condition, signal);
      };
      try {
        return await examine(put);
      } finally {
        await removeObject(context, key);
      }
    },
    { progress: () => requests },
  );
  return probing.then(async (found) => {
    const isCapable = found.conditionalCreate && found.compareAndSet;
    return isCapable || !(await isVersioned(context)) ? found : { ...found, versioned: true };
  });
}

/** Also `false` if the service or the permissions of the key do not reveal it. */
async function isVersioned({ client, settings, attempts }: S3Context): Promise<boolean> {
  try {
    const command = new GetBucketVersioningCommand({ Bucket: settings.bucket });
    const { Status } = await attempts.run(({ signal }) => client.send(command, { abortSignal: signal }));
    return Status !== undefined;
  } catch {
    return false;
  }
}

async function examine(
  put: (condition: { IfMatch?: string; IfNoneMatch?: string }) => Promise<ProbeResult>,
): Promise<ProbedCapabilities> {
  const first = await put({});
  const conditionalCreate = (await put({ IfNoneMatch: "*" })) === "refused";
  const incapable = { conditionalCreate, compareAndSet: false, ifMatch: FORMS[0] };
  // A service that ignores the header accepts every write, so a write that must fail is tried first.
  if (typeof first === "string" || (await put({ IfMatch: FORMS[0]("0".repeat(32)) })) !== "refused")
    return incapable;
  for (const ifMatch of FORMS) {
    const result = await put({ IfMatch: ifMatch(first.etag) });
    if (typeof result !== "string") return { conditionalCreate, compareAndSet: true, ifMatch };
  }
  return incapable;
}

async function probe(
  { client, settings }: S3Context,
  key: string,
  condition: { IfMatch?: string; IfNoneMatch?: string },
  signal: AbortSignal,
): Promise<ProbeResult> {
  try {
    const output = await client.send(
      new PutObjectCommand({ Bucket: settings.bucket, Key: key, Body: randomBytes(16), ...condition }),
      { abortSignal: signal },
    );
    return { etag: etagOf(output.ETag) };
  } catch (error) {
    if (isRefusedCondition(error)) return "refused";
    const status = statusOf(error);
    if ("IfMatch" in condition || "IfNoneMatch" in condition) {
      if (status === 501 || status === 400) return "unknown";
    }
    throw error;
  }
}
