import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { stripVTControlCharacters } from "node:util";
import { childOf, killProcess, killWithVariable } from "../processes/own-processes.js";
import { signalGroup } from "../processes/process-group.js";
import { isResourceExhausted } from "../processes/resource-exhausted.js";
import { startProcess } from "../processes/start-process.js";
import { EventLines } from "./event-lines.js";
import { parseEvent } from "./events.js";
import { FinalEvent } from "./final-event.js";
import { maxEndLength } from "./output-end.js";
const closeOnExec = 0o2000000;
const graceMs = 2000;
const maxLoggedBytes = 10 * 1024 * 1024;
const maxLineLength = 64 * 1024;
const maxEventLength = 4 * 1024 * 1024;
const seenMs = 1000;
let isTerminating = false;
let hasBegun = false;
let gate;
let init;
let loggedBytes = 0;
const lastPieces = [];
let lastLength = 0;
let rawBytes = 0;
function terminate() {
    if (isTerminating)
        return;
    isTerminating = true;
    if (hasBegun)
        signalGroup(process.pid, "SIGTERM");
    else if (gate !== undefined)
        gate.end();
    else
        process.exit(1);
    setTimeout(() => signalGroup(process.pid, "SIGKILL"), graceMs);
}
const kill = () => init === undefined ? killWithVariable([`AGENT_RESULT_FILE=${process.env.AGENT_RESULT_FILE}`]) : killProcess(init);
async function abandon() {
    if (!hasBegun)
        return terminate();
    await kill();
    signalGroup(process.pid, "SIGKILL");
}
function log(lines) {
    let all = "";
    for (const line of lines) {
        if (loggedBytes > maxLoggedBytes)
            break;
        const text = `| ${stripVTControlCharacters(line).replace(/[^\P{Cc}\t]/gu, "")}\n`;
        loggedBytes += Buffer.byteLength(text);
        all += loggedBytes > maxLoggedBytes ? "| [output truncated]\n" : text;
    }
    if (all !== "")
        process.stdout.write(all);
}
function keepEnd(text) {
    lastPieces.push(text);
    lastLength += text.length;
    while (lastLength - (lastPieces[0]?.length ?? 0) >= maxEndLength)
        lastLength -= lastPieces.shift()?.length ?? 0;
}
class Events {
    #lines;
    #final;
    #told = [];
    #toldAt = 0;
    #timer;
    constructor(format) {
        this.#lines = new EventLines(format);
        this.#final = new FinalEvent(format);
    }
    add(line) {
        const event = parseEvent(line);
        if (event !== undefined) {
            this.#final.add(event);
            const isTold = this.#final.session === this.#told[0] && this.#final.event === this.#told[1];
            const waitMs = isTold ? this.#toldAt + seenMs - performance.now() : 0;
            if (waitMs <= 0)
                this.tell();
            else
                this.#timer ??= setTimeout(() => this.tell(), waitMs).unref();
        }
        return loggedBytes > maxLoggedBytes ? [] : this.#lines.add(line, event);
    }
    end() {
        return this.#lines.end();
    }
    tell(onSent) {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        const { session, event: final, hasWorked, model } = this.#final;
        this.#told = [session, final];
        this.#toldAt = performance.now();
        tell({ seen: { final, hasWorked, session, model } }, onSent);
    }
}
function copy(stream, events) {
    const maxLength = events === undefined ? maxLineLength : maxEventLength;
    const show = (lines) => log(events ? lines.flatMap((line) => events.add(line)) : lines);
    let rest = "";
    stream.setEncoding("utf8").on("data", (text) => {
        if (events === undefined && loggedBytes > maxLoggedBytes)
            return;
        const lines = text.split("\n");
        lines[0] = rest + lines[0];
        rest = lines.pop() ?? "";
        show(lines);
        if (rest.length > maxLength) {
            show([rest]);
            rest = "";
        }
    });
    return new Promise((resolve) => {
        stream.once("close", () => {
            if (rest !== "")
                show([rest]);
            log(events?.end() ?? []);
            resolve();
        });
    });
}
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
        }
}
function start() {
    const descriptor = inherited === undefined ? undefined : openSync(inherited, "r");
    try {
        const stdio = ["inherit", "pipe", "pipe"];
        if (descriptor !== undefined)
            stdio.push(descriptor);
        if (gateDescriptor !== undefined)
            stdio.push(...Array(gateDescriptor - stdio.length).fill("ignore"), "pipe");
        const env = extraCertificates ? { ...process.env, NODE_EXTRA_CA_CERTS: extraCertificates } : process.env;
        const child = spawn(file, args, { stdio, env });
        return child;
    }
    finally {
        if (descriptor !== undefined)
            closeSync(descriptor);
    }
}
function tell(message, onSent = () => { }) {
    if (process.connected)
        process.send?.(message, onSent);
    else
        onSent();
}
async function begin() {
    const answer = once(process, "message");
    process.on("message", (message) => message === "kill" && void kill());
    tell({ init });
    await answer;
    hasBegun = !isTerminating;
}
async function openGate(sandbox, stream) {
    if (isTerminating)
        return;
    init = childOf(sandbox);
    if (init === undefined)
        throw new Error("the first process of its sandbox is not in /proc");
    await begin();
    if (hasBegun)
        stream.end("\n");
}
process.stdout.on("error", () => { });
process.on("disconnect", abandon);
process.on("SIGTERM", terminate);
process.on("SIGINT", terminate);
const [settings = "{}", file = "", ...args] = process.argv.slice(2);
const { stdoutFile, compileCache = "", extraCertificates, isOwnProgram, inherited, gate: gateDescriptor, format, rawFile, } = JSON.parse(settings);
if (process.env.NODE_COMPILE_CACHE === compileCache)
    delete process.env.NODE_COMPILE_CACHE;
closeInherited();
if (gateDescriptor === undefined)
    await begin();
const agent = await startProcess(start, isOwnProgram === true).catch(explain);
let gateClosed;
if (gateDescriptor !== undefined) {
    const stream = agent.stdio[gateDescriptor];
    gate = stream;
    gateClosed = new Promise((resolve) => stream.once("close", resolve));
    stream.on("error", () => { }).once("data", () => openGate(agent.pid ?? 0, stream).catch(explain));
}
const events = format && new Events(format);
const copied = Promise.all([copy(agent.stdout, events), copy(agent.stderr)]);
agent.stdout.on("data", (text) => {
    keepEnd(text);
    if (rawFile === undefined || rawBytes > maxLoggedBytes)
        return;
    rawBytes += Buffer.byteLength(text);
    try {
        appendFileSync(rawFile, text);
    }
    catch {
    }
});
agent.on("exit", async (exitCode, signal) => {
    if (!hasBegun) {
        terminate();
        await gateClosed;
    }
    await Promise.race([copied, new Promise((resolve) => setTimeout(resolve, graceMs / 4))]);
    if (!process.connected)
        signalGroup(process.pid, "SIGKILL");
    const code = exitCode ?? (signal === null ? 1 : 128 + constants.signals[signal]);
    const exit = () => process.stdout.write("", () => process.exit(isTerminating ? 1 : code));
    const stdout = lastPieces.join("").slice(-maxEndLength);
    const tellEvents = () => (events === undefined ? void exit() : events.tell(exit));
    try {
        writeFileSync(stdoutFile, stdout);
        tellEvents();
    }
    catch {
        tell({ stdout }, tellEvents);
    }
});
function explain(error) {
    process.stdout.write(`The agent cannot be started: ${error.message}\n`, () => {
        if (isResourceExhausted(error))
            tell({ exhausted: error.message }, () => process.exit(127));
        else
            process.exit(127);
    });
    return new Promise(() => { });
}
