import { t } from "../../src/texts.ts";
import { askServer } from "../saved/server-clock.ts";
import { announce, button, element } from "./elements.ts";

/** Says that the picture could not be loaded, with a button to try again. Waits for `Retry-After` once. */
export function watchPicture(): void {
  const stage = document.querySelector<HTMLElement>(".stage");
  const picture = stage?.querySelector("img");
  if (!stage || !picture) return;
  let mayWait = true;
  const load = () => {
    picture.src = `${picture.src}`;
  };
  const notice = element("p", "placeholder", t("viewing.pictureFailed"));
  notice.append(button(t("viewing.retry"), load, "plain"));
  const onFailure = async () => {
    const isFocused = stage.contains(document.activeElement);
    stage.hidden = true;
    stage.after(notice);
    if (isFocused) notice.querySelector("button")?.focus();
    announce(t("viewing.pictureFailed"));
    const reply = await fetch(picture.currentSrc).catch(() => null);
    void reply?.body?.cancel();
    if (reply !== null && reply.status >= 400 && reply.status < 500) {
      // The image may have ended or be withheld: then its page says so.
      const status = await askServer();
      if (status !== null && status >= 400 && status < 500) location.reload();
    }
    const seconds = Number(reply?.headers.get("Retry-After"));
    if (!mayWait || !(seconds > 0)) return;
    mayWait = false;
    window.setTimeout(load, seconds * 1000);
  };
  picture.addEventListener("error", () => void onFailure());
  picture.addEventListener("load", () => {
    stage.hidden = false;
    notice.remove();
  });
  // It may have failed before this script ran.
  if (picture.complete) picture.decode().catch(onFailure);
}
