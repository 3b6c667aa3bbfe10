export { type Closable, createShutdown, type ShutdownOptions } from "./create-shutdown.ts";
export {
  type FrontOptions,
  front,
  type NodeListener,
  type NodeListenerOptions,
  nodeListener,
} from "./node-listener.ts";
export { type MulterFile, type OutriggerStorage, outriggerStorage } from "./upload/multer-storage.ts";
