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
      <UploadList session={session} />
      <SavedList session={session} />
      <Toasts departing={session.departing} />
      <MessageRegion log={session.log} />
    </>
  );
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
