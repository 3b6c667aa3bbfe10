import { randomBytes } from "node:crypto";
import { GetBucketVersioningCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { ServiceError } from "@outrigger/core";
import { writeConflict } from "@outrigger/core/stores";
import { isRefusedCondition, statusOf } from "./s3-errors.ts";
import { removeObject, type S3Context } from "./s3-objects.ts";
import type { S3Capabilities } from "./s3-options.ts";
import { etagOf, parseRevision } from "./s3-revision.ts";
import type { WriteCondition } from "./write-object.ts";

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

/** Conditions of writes, as the service understands them. It is probed once, by the first call. */
export class ConditionalWrites {
  readonly #context: S3Context;
  #probed: Promise<ProbedCapabilities> | undefined;

  constructor(context: S3Context) {
    this.#context = context;
  }

  capabilities(): Promise<ProbedCapabilities> {
    this.#probed ??= probeCapabilities(this.#context).catch((error) => {
      this.#probed = undefined;
      throw error;
    });
    return this.#probed;
  }

  /** The headers of a write with this condition. Rejects if the service does not support it. */
  async conditionOf(ifRevision: string | null | undefined): Promise<WriteCondition> {
    if (ifRevision === undefined) return {};
    const capabilities = await this.capabilities();
    const { conditionalCreate, compareAndSet, ifMatch } = capabilities;
    if (ifRevision === null) {
      if (!conditionalCreate) throw incapable("If-None-Match", "Keep only renditions in it", capabilities);
      return { IfNoneMatch: "*" };
    }
    if (!compareAndSet) {
      throw incapable("If-Match", "Keep the records in another store, such as Redis or a disk", capabilities);
    }
    const seen = parseRevision(ifRevision);
    if (seen === null) throw writeConflict();
    return { IfMatch: ifMatch(seen.etag), lineage: seen.lineage };
  }

  /** As {@link conditionOf}, for leases, which need both conditions. */
  async leaseConditionOf(revision: string | null): Promise<WriteCondition> {
    const capabilities = await this.capabilities();
    if (!capabilities.conditionalCreate) throw incapable("If-None-Match", LEASE_REMEDY, capabilities);
    // Without replacement, the lease of a holder that died would never end.
    if (!capabilities.compareAndSet) throw incapable("If-Match", LEASE_REMEDY, capabilities);
    return this.conditionOf(revision);
  }
}

const LEASE_REMEDY = "Keep the leases in another store, such as Redis or a disk";

function incapable(header: string, remedy: string, { versioned }: S3Capabilities): ServiceError {
  const [where, other] = versioned
    ? [" in a bucket with versions", ", or use a new bucket without versions"]
    : ["", ""];
  return new ServiceError(
    "store_unavailable",
    `This object storage does not support conditional writes${where} (${header}). ${remedy}${other}.`,
  );
}

/**
 * Probes with an object of a random name, which it deletes: five or six requests, one more if a condition is
 * missing.
 */
function probeCapabilities(context: S3Context): Promise<ProbedCapabilities> {
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
