import { awaitImage } from "./await-image.ts";
import { dressPage } from "./dress-page.ts";
import { turnPages } from "./turn-pages.ts";

dressPage();
turnPages();
awaitImage();
