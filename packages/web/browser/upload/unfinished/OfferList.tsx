import { useEffect, useRef, useState } from "preact/hooks";
import { sizeText } from "../../../src/phrases.ts";
import type { KeptUpload } from "../../saved/kept-uploads.ts";
import { kindOf } from "../file-kinds.ts";
import { CHOOSER_ID } from "../page/DropArea.tsx";
import { leaveCard } from "../page/leave-card.ts";
import { Thumbnail } from "../page/Thumbnail.tsx";
import type { Session } from "../session.ts";

const MOST_SHOWN = 5;

/** Uploads that can be continued, and files that were shared with this page. */
export function OfferList({ session }: { session: Session }) {
  const { unfinished, resume, log } = session;
  const offers = unfinished.offers.value;
  const kept = offers.filter(({ file }) => file !== null);
  const more = offers.length - MOST_SHOWN;

  // Once, when the page finds them.
  useEffect(() => log.say(`${offersText(offers)}. You can continue or discard.`), []);

  function answerAll(answer: () => void): void {
    document.getElementById(CHOOSER_ID)?.focus();
    answer();
  }

  return (
    <section class="offers" aria-labelledby="offers">
      <div class="heading">
        <h2 id="offers" dir="auto">
          {offersText(offers)}
        </h2>
        {offers.length > 1 && kept.length > 0 && (
          <button type="button" class="small" onClick={() => answerAll(() => void resume(kept))}>
            {kept.some(({ meta }) => meta !== null) ? "Continue all" : "Upload all"}
          </button>
        )}
        {offers.length > 1 && (
          <button
            type="button"
            class="small plain"
            onClick={() => answerAll(() => unfinished.discard(offers))}
          >
            Discard all
          </button>
        )}
      </div>
      <ul class="entries">
        {offers.slice(0, MOST_SHOWN).map((offer) => (
          <OfferRow key={offer.key} offer={offer} session={session} />
        ))}
      </ul>
      {more > 0 && <p class="hint">And {more === 1 ? "1 more file" : `${more} more files`}.</p>}
    </section>
  );
}

function OfferRow({ offer, session }: { offer: KeptUpload; session: Session }) {
  const row = useRef<HTMLLIElement>(null);
  const { chosen, file, meta } = offer;
  const name = meta?.name ?? chosen.name;
  const kind = kindOf(file ?? { ...chosen, type: "" });

  function answer(send: () => void): void {
    leaveCard(row.current);
    send();
  }

  return (
    <li ref={row} class="entry row" tabIndex={-1}>
      <Thumbnail
        localUrl={useObjectUrl(kind?.isShown ? file : null)}
        image={null}
        label={kind?.label ?? null}
      />
      <div class="body">
        <p class="title" dir="auto">
          {name}
        </p>
        <p class="facts">{offerText(offer, sizeText(chosen.size))}</p>
      </div>
      <div class="answers">
        {file === null ? (
          <button type="button" class="small" onClick={() => document.getElementById(CHOOSER_ID)?.click()}>
            Choose it again<span class="unseen"> ({chosen.name})</span>
          </button>
        ) : (
          <button type="button" class="small" onClick={() => answer(() => void session.resume([offer]))}>
            {meta === null ? "Upload" : "Continue"}
            <span class="unseen"> {name}</span>
          </button>
        )}
        <button
          type="button"
          class="small plain"
          onClick={() => answer(() => session.unfinished.discard([offer]))}
        >
          Discard<span class="unseen"> {name}</span>
        </button>
      </div>
    </li>
  );
}

/** An object URL that lasts as long as the component shows the file. */
function useObjectUrl(file: File | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (file === null) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

type Offer = Pick<KeptUpload, "meta" | "file" | "chosen">;

/** What is offered: the heading, and the announcement. */
function offersText(offers: readonly Offer[]): string {
  const [first] = offers;
  const shared = offers.filter(({ meta }) => meta === null).length;
  if (first === undefined) return "";
  if (shared === 0) {
    return offers.length === 1
      ? `${nameOf(first)} was not finished`
      : `${offers.length} uploads were not finished`;
  }
  if (shared < offers.length) return `${offers.length} files are not uploaded`;
  return shared === 1 ? `Upload ${nameOf(first)}?` : `Upload ${shared} shared files?`;
}

/** The state of one offer. @param size of the chosen file, as text */
function offerText({ meta, file }: Offer, size: string): string {
  if (file !== null) return meta === null ? `${size} · shared with this page` : `${size} · not finished`;
  return `${size} · ${meta === null ? "shared with this page" : "not finished"}. The file was not kept.`;
}

/** A longer name would hide the rest of the text. */
const MAX_SHOWN_NAME = 60;

function nameOf({ meta, chosen }: Offer): string {
  const name = meta?.name ?? chosen.name;
  return name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name;
}
