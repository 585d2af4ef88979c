import { errorMessage } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import { readSecretFile, type ServiceSecret } from "../service-secrets.ts";

/**
 * Reads the files of secrets again and again, so that the log says when a new value is in use, and when a file cannot be read.
 *
 * @param everyMs - default: 5000; less in tests
 */
export function watchSecrets(secrets: Iterable<ServiceSecret>, log: Log, everyMs = 5000): Disposable {
  const ofFiles = new Map([...secrets].map((secret) => [secret.file, secret]));
  const watched = [...ofFiles].map(([file, secret]) => ({
    file,
    secret,
    last: secret.value,
    outage: new OutageLog(log),
  }));
  const timer = setInterval(() => {
    for (const one of watched) {
      const { file, secret, last, outage } = one;
      const { name } = secret;
      if (file === undefined) continue;
      try {
        readSecretFile(name, file);
        one.last = secret.value;
        if (one.last !== last) log(`${name} was replaced in ${file}. The new one is used from now on.`);
        outage.end(`${name} can be read again from ${file}.`);
      } catch (error) {
        outage.begin(`The ${name} that was read last stays in use, because of an error: ${errorMessage(error)}`);
      }
    }
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
