import { t } from "../../../src/texts.ts";
import type { Session } from "../session.ts";
import { messages } from "../store/messages.ts";
import { DropArea } from "./DropArea.tsx";
import { SavedList, UploadList } from "./Lists.tsx";
import { NextOptionsForm } from "./NextOptionsForm.tsx";

/** The interactive part of the page. */
export function UploadPage({ session }: { session: Session }) {
  const { text, terms, end } = session.ticket.state.value;
  const isAsking = text !== undefined && terms === undefined;
  return (
    <>
      {end === undefined && <DropArea session={session} />}
      {end !== undefined && (
        <p class="banner" role="alert">
          {t(end)}
        </p>
      )}
      {session.advice.value !== null && <p class="advice">{session.advice.value}</p>}
      {end === undefined && !isAsking && <NextOptionsForm session={session} />}
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
