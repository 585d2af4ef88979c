import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
const [port = "", socket = "", file = "", ...args] = process.argv.slice(2);
const server = createServer((client) => {
    const service = connect(socket);
    pipeline(client, service, client, () => { });
});
server.listen(Number(port), "127.0.0.1", () => {
    const agent = spawn(file, args, { stdio: "inherit" });
    agent.on("error", (error) => {
        console.error(`The agent cannot be started: ${error.message}`);
        process.exit(127);
    });
    agent.on("exit", (exitCode) => process.exit(exitCode ?? 1));
});
