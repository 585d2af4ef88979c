import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
// Runs an agent in a sandbox without a network: forwards the connections to a port of the sandbox's loopback to a socket of
// the service. Arguments: the port, the path of the socket, and the agent's command.
const [port = "", socket = "", file = "", ...args] = process.argv.slice(2);
const server = createServer((client) => {
    const service = connect(socket);
    // A connection that breaks ends at both sides.
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
