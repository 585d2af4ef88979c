import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { ownFile } from "../own-file.ts";
import type { PageReply } from "./page-reply.ts";

/** A file that pages load. Its address changes with its content, so that browsers keep it until it changes. */
export class Asset {
  readonly #content: Buffer;
  readonly #type: string;
  /** Its path, below the base path, with a query. */
  readonly address: string;

  /**
   * @param name - of the file in `service/src/pages`; it is served as `/assets/<name>`
   * @param type - its media type
   */
  constructor(name: string, type: string) {
    this.#content = readFileSync(ownFile(`pages/${name}`));
    this.#type = type;
    const version = createHash("sha256").update(this.#content).digest("base64url").slice(0, 16);
    this.address = `/assets/${name}?v=${version}`;
  }

  reply(): PageReply {
    const headers = { "content-type": this.#type, "cache-control": "public, max-age=31536000, immutable" };
    return { status: 200, headers, body: [this.#content] };
  }
}
