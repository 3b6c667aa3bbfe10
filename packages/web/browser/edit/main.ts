import { setClockByDocument } from "../saved/server-clock.ts";
import { readTexts, showLocalTimes } from "../texts.ts";
import { dressExpiry } from "./dress-expiry.ts";
import { savedPin, updateSavedList } from "./update-saved-list.ts";
import "./form.css";

readTexts();
setClockByDocument();
showLocalTimes();
updateSavedList();
dressExpiry();
hidePin();
reopen();

/**
 * After the form was sent, removes the PIN and the result from the address bar. The history entry keeps the PIN, so
 * that {@link reopen} can open the page again after a reload.
 */
function hidePin(): void {
  const query = new URLSearchParams(location.search);
  const pin = document.querySelector<HTMLInputElement>('input[type="hidden"][name="pin"]')?.value;
  const isDeleted = document.querySelector("[data-deleted-from]") !== null;
  const isShown = query.has("pin") && !query.has("done");
  if (isDeleted || (pin !== undefined && !isShown)) {
    history.replaceState(isDeleted ? null : { pin }, "", location.pathname);
  }
}

/** On the page that asks for the PIN: uses the PIN of this history entry or of the saved list, once. */
function reopen(): void {
  const field = document.querySelector<HTMLInputElement>("input.pin");
  const state: unknown = history.state;
  if (field === null || field.form === null || location.search !== "") return;
  const kept =
    typeof state === "object" && state !== null && "pin" in state ? state.pin : savedPin(field.form);
  if (typeof kept !== "string") return;
  const address = new URL(field.form.action);
  // The empty parameter makes the page remove the PIN from the address bar.
  address.search = new URLSearchParams({ pin: kept, done: "" }).toString();
  location.replace(address);
}
