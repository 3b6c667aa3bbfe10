import { createServer, type RequestListener } from "node:http";
import middie from "@fastify/middie";
import connect from "connect";
import fastify from "fastify";
import polka from "polka";
import type { ExpressMiddleware } from "../src/express.ts";

/** An app of `(req, res, next)` middleware without the members that Express adds to requests. */
export interface ConnectHost {
  /** Passes all requests below `path` to `middleware`, and answers the others with 404. */
  mount(path: string, middleware: ExpressMiddleware | RequestListener): Promise<RequestListener>;
}

export const CONNECT_HOSTS: Record<string, ConnectHost> = {
  connect: {
    async mount(path, middleware) {
      return connect().use(path, middleware);
    },
  },
  polka: {
    async mount(path, middleware) {
      const app = polka().use(path, middleware);
      return (req, res) => app.handler(req, res);
    },
  },
  "@fastify/middie": {
    async mount(path, middleware) {
      const app = fastify({ serverFactory: (handler) => createServer(handler) });
      await app.register(middie);
      app.use(path, middleware);
      await app.ready();
      return app.routing;
    },
  },
};
