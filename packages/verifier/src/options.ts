// A separate entry, because the root entry loads the lists of domains.
export { PROBER_RULES } from "./prober-options.ts";
