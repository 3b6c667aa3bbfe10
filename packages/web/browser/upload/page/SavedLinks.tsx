import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { linksFileText } from "../../saved/links-file.ts";
import { localDateValue } from "../lifetimes.ts";
import { restoreLinks, restoreText } from "../restore-links.ts";
import type { Session } from "../session.ts";

const MAX_FILE_BYTES = 10_000_000;

/** Saves the edit links of the list in a file, and restores a list from such a file. */
export function SavedLinks({ session }: { session: Session }) {
  const [status, setStatus] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { saved, client, config, log } = session;
  const kept = saved.list.value.filter(
    ({ leaving, unavailable }) =>
      leaving === undefined && (unavailable === undefined || unavailable === "withheld"),
  );

  function save(): void {
    const text = linksFileText(kept, config.baseUrl, Date.now());
    downloadText(text, `image-links-${localDateValue(Date.now()).slice(0, 10)}.txt`);
    saved.markCopied(kept.map(({ id }) => id));
    report(`${kept.length === 1 ? "1 link" : `${kept.length} links`} saved. Keep the file private.`);
  }

  async function restore({ currentTarget }: TargetedEvent<HTMLInputElement>): Promise<void> {
    const [file] = currentTarget.files ?? [];
    if (file === undefined) return;
    setBusy(true);
    const onProgress = (done: number, total: number) => setStatus(`Restoring: ${done} of ${total}…`);
    try {
      // Read before the field is cleared, which is needed to choose the same file again.
      const text = file.size > MAX_FILE_BYTES ? "" : await file.text();
      report(restoreText(await restoreLinks(text, { saved, client, onProgress })));
    } catch {
      // The file was moved or deleted after it was chosen.
      report("This file could not be read.");
    }
    currentTarget.value = "";
    setBusy(false);
  }

  function report(text: string): void {
    setStatus(text);
    log.say(text);
  }

  return (
    <div class="links-file">
      {saved.atRisk.value.length > 1 && (
        <p class="trouble">This browser can’t keep your edit links. Save them to a file before you leave.</p>
      )}
      {kept.length > 0 && (
        <button type="button" class="quiet" onClick={save}>
          Save my links…
        </button>
      )}
      <label class="restore">
        <input
          class="unseen"
          type="file"
          accept=".txt,text/plain"
          aria-label="Restore links from a file"
          disabled={isBusy}
          onChange={restore}
        />
        <span aria-hidden="true">Restore…</span>
      </label>
      {status !== null && <p class="hint">{status}</p>}
    </div>
  );
}

function downloadText(text: string, fileName: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  link.download = fileName;
  link.click();
  // Later, because the browser reads the file only after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
