import type { HostRow } from "./host-table.ts";

const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];

/** The row of docs/mounting.md for Next.js, which removes `Content-Length`. */
export const NEXT_HOST: HostRow = {
  host: "[Next.js](#nextjs)",
  adapter: "@outrigger/fetch",
  failing: FORMATS.map((suffix) => `GET .${suffix} with resize answers a file of that type`),
};

export const NEST_HOST: HostRow = {
  host: "[NestJS](#nestjs) with its Express platform",
  adapter: "@outrigger/express",
};
