/** Too many open files, no more processes, no memory, or no space. */
const codes = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT"];
// Git says of some failed writes neither why nor "No space left on device": of a ref, of an index, and of its configuration.
const messages = /couldn't write '|Out of diskspace|failed to write new configuration file|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory|[Oo]ut of memory|cannot fork|unable to (?:fork|create threaded)|fork: (?:retry: )?Resource temporarily unavailable/;
/** Thrown when the machine lacks something for now, such as disk space. The same can succeed later without any change. */
export class ResourceExhausted extends Error {
}
/** Returns whether something thrown means that the machine lacks something for now. */
export function isResourceExhausted(error) {
    if (error instanceof ResourceExhausted)
        return true;
    return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
/** Returns whether the output of a program says that the machine lacks something for now. */
export function saysResourceExhausted(output) {
    return messages.test(output);
}
