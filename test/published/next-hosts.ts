import type { HostRow } from "./host-table.ts";

const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** The rows of docs/mounting.md for the three ways in Next.js. */
export const NEXT_HOSTS: Record<"route" | "pages" | "custom", HostRow> = {
  route: {
    host: "[Next.js](#nextjs), route handler",
    adapter: "@outrigger/fetch",
    limits: {
      checks: FORMATS.map((suffix) => `GET .${suffix} with resize answers a file of that type`),
      text: "Next.js removes `Content-Length`",
    },
  },
  pages: { host: "[Next.js](#nextjs), pages route", adapter: "@outrigger/node" },
  custom: { host: "[Next.js](#nextjs), custom server", adapter: "@outrigger/node" },
};

export const NEST_HOST: HostRow = {
  host: "[NestJS](#nestjs) with its Express platform",
  adapter: "@outrigger/express",
};
