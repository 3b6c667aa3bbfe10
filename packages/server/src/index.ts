export { createServer, type RunningServer } from "./create-server.ts";
export type {
  ServerConfig,
  ServerHttpConfig,
  ServerImagesConfig,
  ServerLogConfig,
  ServerMetricsConfig,
  ServerRendererConfig,
} from "./server-config.ts";
