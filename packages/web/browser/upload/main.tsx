import { effect } from "@preact/signals";
import { render } from "preact";
import { expiryMs, type SavedImage } from "../saved/saved-image.ts";
import { setClockByDocument } from "../saved/server-clock.ts";
import { readConfig } from "./config.ts";
import { UploadPage } from "./page/UploadPage.tsx";
import { createSession, type Session } from "./session.ts";
import { checkOnReturn } from "./store/checks.ts";
import { tabTitle } from "./store/totals.ts";
import { isUnfinished } from "./store/uploads.ts";
import "./styles/index.css";

const root = document.getElementById("upload");
if (root !== null) {
  setClockByDocument();
  const session = createSession(readConfig(root.dataset, location));
  render(<UploadPage session={session} />, root);
  listenForPastes(session);
  warnBeforeLoss(session);
  showStateInTitle(session);
  checkOnReturn(session.checks);
  undoByKeyboard(session);
  void session.unfinished.refresh();
  effect(() => {
    const nowMs = session.clock.everyHalfMinute.value;
    const isOver = ({ expiresAt }: SavedImage) => expiryMs(expiresAt) <= nowMs;
    // Only the service knows whether the expiry was changed.
    if (session.saved.list.peek().some(isOver)) void session.checks.checkDue();
  });
}

/** Ctrl+Z (⌘Z) brings back what was removed last, except in fields, where it undoes typing. */
function undoByKeyboard({ departing }: Session): void {
  addEventListener("keydown", (event) => {
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    const isTyping =
      event.target instanceof Element && event.target.matches("input:not([type=file], [readonly])");
    const last = departing.departures.value.at(-1);
    if (!isUndo || isTyping || last === undefined) return;
    event.preventDefault();
    departing.undo(last);
  });
}

function listenForPastes({ add, notePastedText }: Session): void {
  const noteAddress = ({ target, clipboardData }: ClipboardEvent) => {
    const isField = target instanceof Element && target.matches("input:not([type=file], [readonly])");
    if (!isField) notePastedText(clipboardData?.getData("text/plain") ?? "");
  };
  addEventListener("paste", (event) => {
    const files = pastedFiles(event.clipboardData, new Date());
    if (files.length === 0) return noteAddress(event);
    event.preventDefault();
    add(files);
  });
}

/**
 * Warns before leaving with unfinished uploads, files that wait for a date, or edit links that only this page has. Only then,
 * because browsers do not keep pages with this listener in the back/forward cache.
 */
function warnBeforeLoss({ uploads, saved, next }: Session): void {
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  effect(() => {
    const isAtRisk = saved.atRisk.value.length > 0 || next.waiting.value > 0;
    if (isAtRisk || uploads.value.some(isUnfinished)) addEventListener("beforeunload", warn);
    else removeEventListener("beforeunload", warn);
  });
}

function showStateInTitle({ totals }: Session): void {
  const plain = document.title;
  effect(() => {
    document.title = tabTitle(totals.value, plain);
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
