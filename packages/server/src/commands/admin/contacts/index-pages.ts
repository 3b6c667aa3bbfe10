import { isServiceError } from "@outrigger/core";
import { createPageIndex, type IndexedDomain } from "@outrigger/page-index";
import { untilInterrupted } from "../../../cli/interruption.ts";
import { printable, printFailure, printOut } from "../../../cli/print.ts";
import { progressLine } from "../../../cli/progress-line.ts";
import { usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withLookup } from "../../../lookup/with-lookup.ts";

/** The options of `outrigger contacts index`, validated by the command line. */
export interface IndexFlags extends DataFlags {
  contact: string;
  now?: boolean;
  maxPages?: number;
  delay?: number;
  readHidden?: boolean;
  internalHost?: string[];
  json?: boolean;
}

/** `outrigger contacts index`: reads the pages of domains that are due. */
export async function indexPages(domains: readonly string[], flags: IndexFlags): Promise<void> {
  const { contact, maxPages, delay: perHostMs, internalHost: internalHosts, now, json = false } = flags;
  await withLookup(flags, true, async ({ database, suppressionList: suppressions, secrets }) => {
    const pages = createIndex();
    const line = progressLine();
    const resume = () => ". Run the same command again to continue";
    await untilInterrupted(async (signal) => {
      try {
        const onProgress = (account: IndexedDomain, hasEnded: boolean) => {
          if (hasEnded) printAccount(account, json);
          else line.update(() => `${account.domain}: ${account.read + account.unchanged} pages`);
        };
        await pages.index(domains, { ...(now && { now }), signal, onProgress });
      } catch (error) {
        if (isServiceError(error, "bad_request")) throw usageError(printable(error.message));
        throw error;
      } finally {
        line.close();
      }
    }, resume);

    function createIndex() {
      const readHidden = flags.readHidden === true ? domains : [];
      try {
        return createPageIndex(database, {
          ...{ contact, maxPages, perHostMs, internalHosts, readHidden },
          ...{ suppressions, secret: secrets },
        });
      } catch (error) {
        if (error instanceof TypeError) throw usageError(error.message);
        throw error;
      }
    }
  });
}

/** Prints what a run did. If no page was ever read, or the run stopped early, the exit code is 1. */
function printAccount(account: IndexedDomain, json: boolean): void {
  const { domain, read, unchanged, disallowed, needScript, cut, added, updated, gone, pages, stopped } =
    account;
  const notes = [
    needScript > 0 ? `${needScript} need JavaScript` : "",
    cut > 0 ? `${cut} longer than 2 MiB were cut` : "",
    ...Object.entries(account.notes).map(
      ([reason, count]) => `${count} × ${reason}, such as ${account.examples[reason]}`,
    ),
    stopped === null ? "" : `stopped: ${stopped}`,
  ].filter((text) => text !== "");
  const text =
    `${domain}: ${read} pages read, ${unchanged} unchanged, ${disallowed} not allowed; ` +
    `${added} addresses added, ${updated} updated, ${gone} no longer there.`;
  printOut(json ? `${JSON.stringify(account)}\n` : `${[text, ...notes.map(printable)].join("\n  ")}\n`);
  if (pages === 0) printFailure(`${domain}: no page could be read`);
  else if (stopped !== null) printFailure(`${domain}: ${printable(stopped)}`);
}
