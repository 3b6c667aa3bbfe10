export { createServer, type RunningServer } from "./create-server.ts";
export type {
  ServerConfig,
  ServerHttpConfig,
  ServerImagesConfig,
  ServerLogConfig,
  ServerRendererConfig,
} from "./server-config.ts";
