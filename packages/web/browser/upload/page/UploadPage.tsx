import type { Session } from "../session.ts";
import { DropArea } from "./DropArea.tsx";
import { MessageRegion } from "./MessageRegion.tsx";
import { NextOptionsForm } from "./NextOptionsForm.tsx";
import { SavedList } from "./SavedList.tsx";
import { UploadList } from "./UploadList.tsx";

/** All of the page that a script moves. */
export function UploadPage({ session }: { session: Session }) {
  return (
    <>
      <DropArea
        onFiles={session.add}
        maxUploadBytes={session.config.maxUploadBytes}
        isCompact={session.uploads.value.length > 0}
      />
      <NextOptionsForm session={session} />
      <UploadList session={session} />
      <SavedList session={session} />
      <MessageRegion log={session.log} />
    </>
  );
}
