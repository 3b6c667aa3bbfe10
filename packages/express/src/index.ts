export { type ExpressMiddleware, type ExpressRequest, express } from "./express.ts";
