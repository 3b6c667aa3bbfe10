import { effect } from "@preact/signals";
import { render } from "preact";
import { t } from "../../src/texts.ts";
import { expiryMs, type SavedImage } from "../saved/saved-image.ts";
import { setClockByDocument } from "../saved/server-clock.ts";
import { readTexts } from "../texts.ts";
import { readConfig } from "./config.ts";
import { droppedFiles, pastedFiles } from "./dropped-files.ts";
import { UploadPage } from "./page/UploadPage.tsx";
import { Session } from "./session.ts";
import { everyHalfMinute, startClock } from "./store/clock.ts";
import { tabTitle } from "./store/totals.ts";
import { isUnfinished } from "./store/uploads.ts";
import "./styles/index.css";

const root = document.getElementById("upload");
if (root !== null) {
  readTexts();
  setClockByDocument();
  startClock();
  const session = new Session(readConfig(root.dataset, location));
  takeTicket(session);
  // A link to this page that differs in its ticket alone loads nothing.
  addEventListener("hashchange", () => takeTicket(session));
  takeForm(root, session);
  render(<UploadPage session={session} />, root);
  listenForPastes(session);
  listenForDrops(session);
  warnBeforeLoss(session);
  showStateInTitle(session);
  checkList(session);
}

/** Replaces the form that was sent with the page, and uploads the file that was chosen in it meanwhile. */
function takeForm(root: HTMLElement, session: Session): void {
  const files = [...(root.querySelector<HTMLInputElement>("[type=file]")?.files ?? [])];
  session.next.name.value = root.querySelector<HTMLInputElement>("[name=name]")?.value ?? "";
  root.replaceChildren();
  session.add(files);
}

/** Uploads with the ticket in the fragment, or with that of before a reload. */
function takeTicket({ ticket }: Session): void {
  const [, text = history.state?.ticket] = /^#ticket=([\w-]+)$/.exec(location.hash) ?? [];
  if (typeof text === "string") ticket.take(text);
}

function listenForPastes(session: Session): void {
  addEventListener("paste", (event) => {
    const files = pastedFiles(event.clipboardData, new Date());
    if (files.length > 0) event.preventDefault();
    session.add(files);
  });
}

/** Whether text can be typed, pasted or dropped here. */
function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input:not([type=file], [readonly])");
}

/** Accepts files dropped anywhere on the page. */
function listenForDrops(session: Session): void {
  const { classList } = document.documentElement;
  addEventListener("dragover", (event) => {
    const isFile = event.dataTransfer?.types.includes("Files");
    if (!isFile && isField(event.target)) return;
    event.preventDefault();
    classList.toggle("dragging", isFile && session.ticket.state.value.end === undefined);
  });
  addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) classList.remove("dragging");
  });
  addEventListener("drop", async (event) => {
    classList.remove("dragging");
    const isFile = event.dataTransfer?.types.includes("Files");
    if (event.dataTransfer === null || (!isFile && isField(event.target))) return;
    event.preventDefault();
    if (!isFile) return session.advise(t("uploads.dropItself"));
    session.add(await droppedFiles(event.dataTransfer));
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

/** Compares the list with the service when the reader returns, and when an image seems to have expired. */
function checkList({ checks, saved }: Session): void {
  checks.checkOnReturn();
  effect(() => {
    const nowMs = everyHalfMinute.value;
    const isOver = ({ expiresAt }: SavedImage) => expiryMs(expiresAt) <= nowMs;
    // Only the service knows whether the expiry was changed.
    if (saved.list.peek().some(isOver)) void checks.checkDue();
  });
}
