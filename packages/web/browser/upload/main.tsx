import { effect } from "@preact/signals";
import { render } from "preact";
import { readConfig } from "./config.ts";
import { UploadPage } from "./page/UploadPage.tsx";
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

/**
 * Warns before leaving with unfinished uploads. Only then, because browsers do not keep pages with this listener in the
 * back/forward cache.
 */
function warnBeforeLoss({ uploads }: Session): void {
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  effect(() => {
    if (uploads.value.some(isUnfinished)) addEventListener("beforeunload", warn);
    else removeEventListener("beforeunload", warn);
  });
}

/**
 * The files of a paste event. Pictures are named after the time of the paste, because browsers call each `image.png`.
 */
function pastedFiles(clipboard: DataTransfer | null, now: Date): File[] {
  return [...(clipboard?.files ?? [])].map((file) => {
    if (!/^image\.\w+$/.test(file.name)) return file;
    const ending = file.name.slice("image".length);
    return new File([file], `pasted ${momentText(now)}${ending}`, { type: file.type });
  });
}

function momentText(moment: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${[moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(".")}`;
}
