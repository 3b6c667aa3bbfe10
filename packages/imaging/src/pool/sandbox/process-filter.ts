/** The fields of `seccomp_data` that the filter reads. The lower half of the first argument, as both architectures have it. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

/** Instructions of classic BPF (linux/bpf_common.h). */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_SET = 0x45;
const RETURN = 0x06;

/** Results (linux/seccomp.h). */
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050001; // EPERM
const UNKNOWN = 0x00050026; // ENOSYS

const CLONE_THREAD = 0x10000;
/** Both architectures. Its flags are in memory, where a filter cannot look; libraries then use `clone`. */
const CLONE3 = 435;

/** System calls of an architecture (linux/audit.h, asm/unistd.h): `clone`, and others that start processes or namespaces. */
const SYSTEM_CALLS: Readonly<
  Partial<Record<NodeJS.Architecture, [audit: number, clone: number, ...number[]]>>
> = {
  x64: [0xc000003e, 56, 57, 58, 272, 308], // fork, vfork, unshare, setns
  arm64: [0xc00000b7, 220, 97, 268], // unshare, setns
};

/** System calls of x32, a second set of numbers of x64. */
const X32 = 0x40000000;

/**
 * A program for seccomp(2) that lets a process start threads, but no processes and no namespaces. It is loaded before the
 * process starts, so it cannot refuse `execve`. `null`: none for this architecture.
 */
export function processFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const calls = SYSTEM_CALLS[architecture];
  if (calls === undefined) return null;
  const [audit, clone, ...refused] = calls;
  const checks: [code: number, ifTrue: number, ifFalse: number, value: number][] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_EQUAL, 0, 1, CLONE3],
    [RETURN, 0, 0, UNKNOWN],
    ...[[JUMP_IF_AT_LEAST, X32] as const, ...refused.map((call) => [JUMP_IF_EQUAL, call] as const)].flatMap(
      ([code, value]): typeof checks => [
        [code, 0, 1, value],
        [RETURN, 0, 0, REFUSE],
      ],
    ),
    [JUMP_IF_EQUAL, 0, 3, clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_IF_SET, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(8 * checks.length);
  for (const [index, [code, ifTrue, ifFalse, value]] of checks.entries()) {
    program.writeUInt16LE(code, 8 * index);
    program.writeUInt8(ifTrue, 8 * index + 2);
    program.writeUInt8(ifFalse, 8 * index + 3);
    program.writeUInt32LE(value, 8 * index + 4);
  }
  return program;
}
