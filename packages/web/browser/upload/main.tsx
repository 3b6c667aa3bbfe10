import { effect } from "@preact/signals";
import { render } from "preact";
import { readConfig } from "./config.ts";
import { UploadPage } from "./page/UploadPage.tsx";
import { pastedFiles } from "./pasted-files.ts";
import { createSession, type Session } from "./session.ts";
import { isUnfinished } from "./store/uploads.ts";
import "./styles/index.css";

const root = document.getElementById("upload");
if (root !== null) {
  const session = createSession(readConfig(root.dataset, location));
  render(<UploadPage session={session} />, root);
  listenForPastes(session);
  warnBeforeLoss(session);
  effect(() => {
    void session.clock.everyHalfMinute.value;
    session.saved.dropExpired();
  });
}

function listenForPastes({ add }: Session): void {
  addEventListener("paste", (event) => {
    const files = pastedFiles(event.clipboardData, new Date());
    if (files.length === 0) return;
    event.preventDefault();
    add(files);
  });
}

/** Only as long as there is something to lose: browsers keep pages without such a listener ready for "back". */
function warnBeforeLoss({ uploads }: Session): void {
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  effect(() => {
    if (uploads.value.some(isUnfinished)) addEventListener("beforeunload", warn);
    else removeEventListener("beforeunload", warn);
  });
}
