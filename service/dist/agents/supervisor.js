import { spawn } from "node:child_process";
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { signalGroup } from "../processes/process-group.js";
import { isResourceExhausted } from "../processes/resource-exhausted.js";
import { startProcess } from "../processes/start-process.js";
import { EventLines } from "./event-lines.js";
import { maxEndLength } from "./output-end.js";
/** In the flags of a descriptor, `O_CLOEXEC`. */
const closeOnExec = 0o2000000;
/** Between SIGTERM and SIGKILL. */
const graceMs = 2000;
const maxLoggedBytes = 10 * 1024 * 1024;
/** In characters. A longer line is split. */
const maxLineLength = 64 * 1024;
/** In characters. An event has all that a tool returned. */
const maxEventLength = 4 * 1024 * 1024;
let isTerminating = false;
let loggedBytes = 0;
let endOfStdout = "";
let rawBytes = 0;
function terminate() {
    if (isTerminating)
        return;
    isTerminating = true;
    signalGroup(process.pid, "SIGTERM");
    setTimeout(() => signalGroup(process.pid, "SIGKILL"), graceMs);
}
/** Prefixes each line, so that no line of the agent looks like one of the service. */
function log(line) {
    if (loggedBytes > maxLoggedBytes)
        return;
    // Colors as a whole: without its first character, a sequence for terminals would be text.
    const text = `| ${stripVTControlCharacters(line).replace(/[^\P{Cc}\t]/gu, "")}\n`;
    loggedBytes += Buffer.byteLength(text);
    process.stdout.write(loggedBytes > maxLoggedBytes ? "| [output truncated]\n" : text);
}
/**
 * Reads on after the limit, because the agent would block on a full pipe.
 *
 * @param events - renders its lines. Default: they are logged as they are
 */
function copy(stream, events) {
    const maxLength = events === undefined ? maxLineLength : maxEventLength;
    const show = (line) => (events?.add(line) ?? [line]).forEach(log);
    let rest = "";
    stream.setEncoding("utf8").on("data", (text) => {
        if (loggedBytes > maxLoggedBytes)
            return;
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        lines.forEach(show);
        if (rest.length > maxLength) {
            show(rest);
            rest = "";
        }
    });
    return new Promise((resolve) => {
        stream.once("close", () => {
            if (rest !== "")
                show(rest);
            events?.end().forEach(log);
            resolve();
        });
    });
}
/**
 * Closes what whoever started the service left open for its programs: through a descriptor, an agent would reach a file outside
 * its sandbox. Node itself closes some of them, and opens none that programs inherit.
 */
function closeInherited() {
    if (process.platform !== "linux")
        return;
    for (const descriptor of readdirSync("/proc/self/fd")
        .map(Number)
        .filter((one) => one > 2))
        try {
            const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1] ?? "";
            if ((Number.parseInt(flags, 8) & closeOnExec) === 0)
                closeSync(descriptor);
        }
        catch {
            // It was the one of the folder, which is closed.
        }
}
/** Starts the agent, which inherits only its stdio and the file for its sandbox. */
function start() {
    if (inherited === undefined)
        return spawn(file, args, { stdio: ["inherit", "pipe", "pipe"] });
    const descriptor = openSync(inherited, "r");
    try {
        const child = spawn(file, args, { stdio: ["inherit", "pipe", "pipe", descriptor] });
        // Node's types know the streams only of children without more descriptors.
        return child;
    }
    finally {
        closeSync(descriptor);
    }
}
process.stdout.on("error", () => { });
// Registered before the agent starts, so that no signal arrives too early to be handled.
process.on("disconnect", terminate);
process.on("SIGTERM", terminate);
process.on("SIGINT", terminate);
const [settings = "{}", file = "", ...args] = process.argv.slice(2);
const { stdoutFile, compileCache = "", isOwnProgram, inherited, events } = JSON.parse(settings);
// Not for the agent, unless it was given one itself.
if (process.env.NODE_COMPILE_CACHE === compileCache)
    delete process.env.NODE_COMPILE_CACHE;
closeInherited();
const agent = await startProcess(start, isOwnProgram === true).catch(explain);
const copied = Promise.all([copy(agent.stdout, events && new EventLines(events.format)), copy(agent.stderr)]);
agent.stdout.on("data", (text) => {
    endOfStdout = (endOfStdout + text).slice(-maxEndLength);
    if (events === undefined || rawBytes > maxLoggedBytes)
        return;
    rawBytes += Buffer.byteLength(text);
    try {
        appendFileSync(events.rawFile, text);
    }
    catch {
        // Such as on a full disk. The log has what people read.
    }
});
agent.on("exit", async (exitCode) => {
    // Processes that the agent left behind hold its pipes. The service kills them; if it is gone, this process does.
    await Promise.race([copied, new Promise((resolve) => setTimeout(resolve, graceMs / 4))]);
    if (!process.connected)
        signalGroup(process.pid, "SIGKILL");
    writeFileSync(stdoutFile, endOfStdout);
    process.stdout.write("", () => process.exit(isTerminating ? 1 : (exitCode ?? 1)));
});
/** Logs why the agent cannot be started, tells the service if the machine only lacks something for now, and exits. */
function explain(error) {
    process.stdout.write(`The agent cannot be started: ${error.message}\n`, () => {
        if (isResourceExhausted(error) && process.connected)
            process.send?.(error.message, () => process.exit(127));
        else
            process.exit(127);
    });
    return new Promise(() => { });
}
