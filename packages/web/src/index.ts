export { type AdminPagesOptions, type AuthorizeAdmin, createAdminPages } from "./admin/admin-pages.ts";
export { createPages, type PagesOptions } from "./pages.ts";
