import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";
import { scriptedCacheProcess } from "../support/scripted-cache-process.ts";
import { temporaryFolder } from "../support/step.ts";

/** Sends Ctrl+C to every process of its console, as the runner does to cancel a step, and ignores it. */
const sendCtrlC = `
  $console = Add-Type -PassThru -Name Console -Namespace Native -MemberDefinition '
    [DllImport("kernel32.dll")] public static extern bool SetConsoleCtrlHandler(IntPtr handler, bool add);
    [DllImport("kernel32.dll")] public static extern bool GenerateConsoleCtrlEvent(uint kind, uint group);'
  while (-not (Test-Path $env:READY)) { Start-Sleep -Milliseconds 50 }
  $null = $console::SetConsoleCtrlHandler([IntPtr]::Zero, $true)
  $null = $console::GenerateConsoleCtrlEvent(0, 0)
  $saving.WaitForExit()`;

test.runIf(process.platform === "win32")(
  "the cache process survives that the step is cancelled, which sends Ctrl+C to the whole console",
  async () => {
    const folder = temporaryFolder();
    const file = (name: string): string => join(folder, name);
    const [ready, go, log, step] = [file("ready"), file("go"), file("log"), file("step.mjs")];
    const { program } = scriptedCacheProcess(`
      fs.writeFileSync(${JSON.stringify(ready)}, "");
      setInterval(() => fs.existsSync(${JSON.stringify(go)}) && reply({ isDone: true }), 50);`);
    const connectCache = pathToFileURL(resolve(root, "src/runner-kit/connect-cache.ts")).href;
    writeFileSync(
      step,
      `import { appendFileSync, writeFileSync } from "node:fs";
      import { connectCache } from ${JSON.stringify(connectCache)};
      const log = (line) => appendFileSync(${JSON.stringify(log)}, line + "\\n");
      process.on("SIGINT", () => {
        log("SIGINT");
        writeFileSync(${JSON.stringify(go)}, "");
      });
      const cache = connectCache(process.env, { program: ${JSON.stringify(program)}, saveTimeoutMs: 30_000 });
      await cache.save("a-1", "text").then(() => log("saved"), ({ message }) => log(message));
      process.exit();`,
    );
    const start = `$saving = Start-Process -PassThru -NoNewWindow -FilePath $env:NODE -ArgumentList ('"' + $env:STEP + '"')`;
    // With a console of its own, so that only this test's processes get the Ctrl+C.
    const child = spawn("powershell", ["-NoProfile", "-Command", `${start}\n${sendCtrlC}`], {
      env: { ...process.env, READY: ready, STEP: step, NODE: process.execPath, RUNNER_TEMP: folder },
      stdio: "ignore",
      windowsHide: true,
    });
    await new Promise((resolve) => child.on("close", resolve));
    expect(readFileSync(log, "utf8").trim().split("\n")).toEqual(["SIGINT", "saved"]);
  },
);
