export { createServer, type RunningServer } from "./create-server.ts";
export type {
  ServerConfig,
  ServerHttpConfig,
  ServerImagesConfig,
  ServerLogConfig,
  ServerLookupConfig,
  ServerMetricsConfig,
  ServerRendererConfig,
  ServerStorageConfig,
} from "./server-config.ts";
