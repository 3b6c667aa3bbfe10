import type { HostRow } from "./host-table.ts";

const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** The rows of docs/hosts.md for the three ways of docs/nextjs.md. */
export const NEXT_HOSTS: Record<"route" | "pages" | "custom", HostRow> = {
  route: {
    host: "[Next.js](nextjs.md#route-handler), route handler",
    adapter: "@outrigger/fetch",
    limits: {
      checks: FORMATS.map((suffix) => `GET .${suffix} with resize answers a file of that type`),
      text: "Next.js removes `Content-Length`",
    },
  },
  pages: { host: "[Next.js](nextjs.md#pages-route), pages route", adapter: "@outrigger/node" },
  custom: { host: "[Next.js](nextjs.md#custom-server), custom server", adapter: "@outrigger/node" },
};

export const NEST_HOST: HostRow = {
  host: "[NestJS](#nestjs) with its Express platform",
  adapter: "@outrigger/express",
};
