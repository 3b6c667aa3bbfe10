import { setClockByDocument } from "../saved/server-clock.ts";
import { dressMain } from "./load-main.ts";
import { turnPages } from "./turn-pages.ts";
import { zoomPictures } from "./zoom.ts";

setClockByDocument();
void dressMain();
turnPages();
zoomPictures();
if (document.querySelector(".pending") !== null) {
  // Without the script, the reply's `Refresh` header reloads the page.
  import("./await-image.ts").then(({ awaitImage }) => awaitImage()).catch(() => undefined);
}
