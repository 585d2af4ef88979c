import { conform } from "./conform.ts";
import { help, parseOptions } from "./options.ts";

const options = parseOptions(process.argv.slice(2), process.env);
if ("help" in options) process.stdout.write(help);
else if ("error" in options) {
  process.stderr.write(`${options.error}\n\n${help}`);
  process.exitCode = 2;
} else {
  const failures = await conform(options, (line) => process.stdout.write(`${line}\n`));
  process.exitCode = failures.length > 0 ? 1 : 0;
}
