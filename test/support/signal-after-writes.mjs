// Preloaded into a process (--import), has it send itself a signal at its nth write to a socket: always at the same point of its
// work, however fast the machine is.
import { Socket } from "node:net";

const [signal, writes] = (process.env.SIGNAL_AFTER_WRITES ?? "").split(":");
const write = Socket.prototype.write;
let left = Number(writes);

Socket.prototype.write = function (...parameters) {
  left--;
  if (left === 0) process.kill(process.pid, signal);
  return write.apply(this, parameters);
};
