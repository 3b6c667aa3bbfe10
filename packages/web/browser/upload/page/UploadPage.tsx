import { t } from "../../../src/texts.ts";
import type { Session } from "../session.ts";
import { messages } from "../store/messages.ts";
import { DropArea } from "./DropArea.tsx";
import { SavedList, UploadList } from "./Lists.tsx";
import { NextOptionsForm } from "./NextOptionsForm.tsx";

/** The interactive part of the page. */
export function UploadPage({ session }: { session: Session }) {
  const { state } = session.ticket;
  const ended = session.ticket.endText();
  return (
    <>
      {ended === null ? (
        <DropArea
          onFiles={(files) => session.add(files)}
          limits={session.ticket.limits.value}
          isSingle={state.value !== "none"}
          isCompact={session.uploads.value.length > 0}
        />
      ) : (
        <p class="banner" role="alert">
          {ended}
        </p>
      )}
      {session.advice.value !== null && <p class="advice">{session.advice.value}</p>}
      {ended === null && state.value !== "asking" && <NextOptionsForm session={session} />}
      <UploadList session={session} />
      <SavedList session={session} />
      <div class="unseen" role="log" aria-label={t("uploads.status")}>
        {messages.value.map(({ number, text }) => (
          <p key={number}>{text}</p>
        ))}
      </div>
    </>
  );
}
