import { errorMessage } from "../error-message.ts";
import { OutageLog } from "../log/outage-log.ts";
import type { Machine } from "../machine.ts";
import { readKeyFile, readStamp, type StoredKey } from "./key-file.ts";

export interface KeyFileReaderOptions {
  file: string;
  machine: Pick<Machine, "now">;
  log: (line: string) => void;
  /** Called with the keys each time they are read. */
  onRead?: (keys: readonly StoredKey[]) => void;
}

/** The shortest time between two checks of the file. */
const checkMs = 1000;

/**
 * Has the keys of a file, and reads them again within a second after a change. It checks the file when a key is needed: a watch
 * would miss changes on network file systems, and swapped links, which Kubernetes uses. If the file cannot be read, the last
 * keys stay valid, so that an error does not lock everyone out.
 */
export class KeyFileReader {
  readonly #options: KeyFileReaderOptions;
  readonly #outage: OutageLog;
  #byHash: ReadonlyMap<string, StoredKey> = new Map();
  #stamp = "";
  #checkedAt = 0;
  #check: Promise<void> | undefined;

  private constructor(options: KeyFileReaderOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log);
  }

  /** @throws if the file does not exist or cannot be used */
  static async open(options: KeyFileReaderOptions): Promise<KeyFileReader> {
    const reader = new KeyFileReader(options);
    reader.#checkedAt = options.machine.now();
    await reader.#read().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      const command = `npm run service -- key add NAME --keys ${options.file}`;
      throw new Error(`${options.file} does not exist. Create it with its first key: ${command}`);
    });
    return reader;
  }

  /** Returns the key with a hash, whether it has expired or not. The duration of a look-up by hash reveals no part of a key. */
  async find(sha256: string): Promise<StoredKey | undefined> {
    await this.#refresh();
    return this.#byHash.get(sha256);
  }

  async keys(): Promise<Iterable<StoredKey>> {
    await this.#refresh();
    return this.#byHash.values();
  }

  #refresh(): Promise<void> {
    const now = this.#options.machine.now();
    if (this.#check === undefined && now - this.#checkedAt >= checkMs) {
      this.#checkedAt = now;
      this.#check = this.#readIfChanged().finally(() => {
        this.#check = undefined;
      });
    }
    return this.#check ?? Promise.resolve();
  }

  async #readIfChanged(): Promise<void> {
    const { file, log } = this.#options;
    try {
      if ((await readStamp(file)) !== this.#stamp) {
        await this.#read();
        log(`The API keys in ${file} were read again: ${this.#byHash.size}`);
      }
      this.#outage.end(`The API keys in ${file} can be read again`);
    } catch (error) {
      this.#outage.begin(`The API keys that were read last stay valid, because of an error: ${errorMessage(error)}`);
    }
  }

  async #read(): Promise<void> {
    const { keys, stamp } = await readKeyFile(this.#options.file);
    this.#byHash = new Map(keys.map((key) => [key.sha256, key]));
    this.#stamp = stamp;
    this.#options.onRead?.(keys);
  }
}
