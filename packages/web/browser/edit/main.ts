import { showLocalTimes } from "../viewer/local-time.ts";
import { hidePin, reopen } from "./address-bar.ts";
import { dressExpiry } from "./dress-expiry.ts";
import { updateSavedList } from "./update-saved-list.ts";

showLocalTimes();
updateSavedList();
dressExpiry();
hidePin();
reopen();
