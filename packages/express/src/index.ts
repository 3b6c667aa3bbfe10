export { type Closable, createShutdown, type ShutdownOptions } from "@outrigger/node";
export { type ExpressMiddleware, type ExpressRequest, express } from "./express.ts";
