import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../session.ts";
import type { MessageLog } from "../store/message-log.ts";
import { DropArea } from "./DropArea.tsx";
import { NextOptionsForm } from "./NextOptionsForm.tsx";
import { SavedList } from "./SavedList.tsx";
import { Toasts } from "./Toasts.tsx";
import { UploadList } from "./UploadList.tsx";

/** The interactive part of the page. */
export function UploadPage({ session }: { session: Session }) {
  return (
    <>
      <DropArea
        onFiles={session.add}
        maxUploadBytes={session.config.maxUploadBytes}
        isCompact={session.uploads.value.length > 0}
      />
      {session.advice.value !== null && <p class="advice">{session.advice.value}</p>}
      <NextOptionsForm session={session} />
      {session.unfinished.offers.value.length > 0 && <Offers session={session} />}
      <UploadList session={session} />
      <SavedList session={session} />
      <Toasts departing={session.departing} />
      <MessageRegion log={session.log} />
    </>
  );
}

/** The list of unfinished uploads, which few visits need. */
function Offers({ session }: { session: Session }) {
  const [List, setList] = useState<ComponentType<{ session: Session }> | null>(null);
  useEffect(() => {
    // Without its file, the uploads stay in the browser for the next visit.
    import("../unfinished/OfferList.tsx")
      .then(({ OfferList }) => setList(() => OfferList))
      .catch(() => undefined);
  }, []);
  return List && <List session={session} />;
}

/** Announces events to screen readers. */
function MessageRegion({ log }: { log: MessageLog }) {
  return (
    <div class="unseen" role="log" aria-label="Status">
      {log.messages.value.map(({ number, text }) => (
        <p key={number}>{text}</p>
      ))}
    </div>
  );
}
