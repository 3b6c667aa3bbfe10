export { createServer, type RunningServer } from "./commands/serve/create-server.ts";
export type {
  ServerConfig,
  ServerImagesConfig,
  ServerLogConfig,
  ServerLookupConfig,
  ServerMetricsConfig,
  ServerRendererConfig,
  ServerStorageConfig,
} from "./config/config-rules.ts";
