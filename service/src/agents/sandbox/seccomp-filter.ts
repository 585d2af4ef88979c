// A filter for system calls, as container engines have one, in the kernel's classic BPF. Linux's documentation: "Seccomp BPF".

/** What differs between processors. */
interface Architecture {
  /** As `AUDIT_ARCH_*`. */
  audit: number;
  /** From this number on, calls belong to another interface (x32) with the same architecture. */
  firstForeignCall?: number;
  /** Where its numbers of calls are. */
  column: 0 | 1;
}

const architectures: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, firstForeignCall: 0x40000000, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

/**
 * System calls that no agent needs, on x64 and on arm64: the keyrings of the kernel, which outlive a sandbox, and what has been a way out of
 * namespaces before.
 */
const forbidden = {
  add_key: [248, 217],
  keyctl: [250, 219],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
} as const;

/** Those that are denied with some arguments. */
const limited = { clone: [56, 220], clone3: [435, 435], socket: [41, 198], unshare: [272, 97] } as const;

/** Unix, IPv4, IPv6 and netlink. Not vsock, which leads to the host of a virtual machine without a network. */
const addressFamilies = [1, 2, 10, 16];

const cloneNewUser = 0x10000000;

/** Errors of the system. */
const [eperm, enosys, eafnosupport] = [1, 38, 97];

/** Where the kernel puts what a filter reads: `struct seccomp_data`. Of an argument, the lower half in little endian. */
const [callOffset, architectureOffset, firstArgumentOffset] = [0, 4, 16];

/** Codes of instructions: load a word, compare, return. */
const [load, jumpIfEqual, jumpIfAtLeast, jumpIfAnyBit, end] = [0x20, 0x15, 0x35, 0x45, 0x06];

const [allow, fail] = [0x7fff0000, 0x00050000];

interface Instruction {
  code: number;
  value: number;
  /** Instructions to skip if a comparison is true, or false. */
  skipIfTrue?: number;
  skipIfFalse?: number;
}

const read = (offset: number): Instruction => ({ code: load, value: offset });
const allowed: Instruction = { code: end, value: allow };
const failed = (error: number): Instruction => ({ code: end, value: fail | error });

/** Runs `then` if a comparison is true. All of `then` ends with a return. */
function when(code: number, value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, value, skipIfFalse: then.length }, ...then];
}

/**
 * Returns the filter for a processor, for `bwrap --seccomp`; `undefined` if there is none for it.
 * It denies the calls above, new user namespaces, in which an agent would have all privileges, and sockets of other families.
 *
 * @param architecture - as in `process.arch`
 */
export function seccompFilter(architecture: string): Buffer | undefined {
  const found = architectures[architecture];
  if (found === undefined) return undefined;
  const { audit, firstForeignCall, column } = found;
  const program: Instruction[] = [
    read(architectureOffset),
    // Programs for another processor, such as 32-bit ones, have other numbers.
    { code: jumpIfEqual, value: audit, skipIfTrue: 1 },
    failed(enosys),
    read(callOffset),
    ...(firstForeignCall === undefined ? [] : when(jumpIfAtLeast, firstForeignCall, [failed(enosys)])),
    ...Object.values(forbidden).flatMap((call) => when(jumpIfEqual, call[column], [failed(eperm)])),
    // Its flags are in memory, where a filter cannot read them. Programs use clone then.
    ...when(jumpIfEqual, limited.clone3[column], [failed(enosys)]),
    ...[limited.clone, limited.unshare].flatMap((call) =>
      when(jumpIfEqual, call[column], [
        read(firstArgumentOffset),
        ...when(jumpIfAnyBit, cloneNewUser, [failed(eperm)]),
        allowed,
      ]),
    ),
    ...when(jumpIfEqual, limited.socket[column], [
      read(firstArgumentOffset),
      ...addressFamilies.flatMap((family) => when(jumpIfEqual, family, [allowed])),
      failed(eafnosupport),
    ]),
    allowed,
  ];
  return Buffer.concat(program.map(encode));
}

/** As `struct sock_filter`. */
function encode({ code, value, skipIfTrue = 0, skipIfFalse = 0 }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(skipIfTrue, 2);
  bytes.writeUInt8(skipIfFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
