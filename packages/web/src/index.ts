export { createPages, type PagesOptions } from "./pages.ts";
