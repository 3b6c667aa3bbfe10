import { awaitImage } from "./await-image.ts";
import { dressMain } from "./load-main.ts";
import { turnPages } from "./turn-pages.ts";
import { zoomPictures } from "./zoom.ts";

void dressMain();
turnPages();
zoomPictures();
awaitImage();
