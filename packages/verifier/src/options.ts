// An entry of its own: the root loads the lists of domains.
export { PROBER_RULES } from "./prober-options.ts";
