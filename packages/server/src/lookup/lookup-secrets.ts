import { type BlobStore, isLocalStore, readIdentity } from "@outrigger/core";
import { StartError } from "../config-error.ts";
import { secretsOf } from "../secret-text.ts";
import type { WithLookup } from "./open-lookup-data.ts";

/** What the lookup's keys are derived from. */
export interface LookupSecrets {
  /** The first is the current one. */
  secrets: Buffer[];
  /** `false` for the secret that the directory of the images made for itself. */
  isConfigured: boolean;
}

/**
 * Finds the secrets of the lookup.
 * @param records What keeps the records of images, and a secret where it can.
 * @throws StartError where there is none that outlives the process.
 */
export async function lookupSecrets(
  { secret, lookup }: WithLookup,
  records: BlobStore,
): Promise<LookupSecrets> {
  const configured = lookup.secret ?? secret;
  if (configured !== undefined) return { secrets: secretsOf(configured), isConfigured: true };
  if (isLocalStore(records)) {
    // A directory that has its identity has had a secret: another one would suppress other people.
    if ((await records.readLocalSecret()) === null && (await readIdentity(records)) !== null) {
      throw new StartError(`The secret of the images is gone. Restore ${records.secretPath} from a backup`);
    }
    return { secrets: [await records.localSecret()], isConfigured: false };
  }
  throw new StartError(
    "There is no secret for the lookup's suppressions. Set lookup.secret, secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes",
  );
}
