import { crc32 } from "node:zlib";
import type { ModelApi } from "../scripted-model.ts";
import { anthropic } from "./anthropic.ts";

/** Anthropic's messages, whose model and form are in the path. */
function inPath(path: RegExp, streams: RegExp): ModelApi {
  return {
    ...anthropic,
    path,
    write: (reply, body, url) =>
      anthropic.write(
        reply,
        { ...(body as object), model: path.exec(url.pathname)?.[1], stream: streams.test(url.pathname) } as never,
        url,
      ),
  };
}

/** Google's documentation: "streamRawPredict". */
export const vertex = inPath(/\/models\/([^/]+):(?:r|streamR)awPredict$/, /:streamRawPredict$/);

const messages = inPath(/^\/model\/([^/]+)\/invoke(?:-with-response-stream)?$/, /-with-response-stream$/);

/** Amazon's documentation: "InvokeModelWithResponseStream". */
export const bedrock: ModelApi = {
  ...messages,
  streamType: "application/vnd.amazon.eventstream",
  write: (reply, body, url) => {
    const { stream, body: text } = messages.write(reply, body, url);
    if (!stream) return { stream, body: text };
    const events = [...String(text).matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => chunk(data));
    return { stream, body: Buffer.concat(events) };
  },
  error: (_status, message) => ({ message }),
};

/** Amazon's documentation: "Event stream encoding". */
function chunk(data: string): Buffer {
  const header = (name: string, value: string): Buffer => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
  };
  const headers = Buffer.concat([
    header(":event-type", "chunk"),
    header(":content-type", "application/json"),
    header(":message-type", "event"),
  ]);
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(data).toString("base64") }));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(headers.length + payload.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const begin = Buffer.concat([prelude, checksum(prelude), headers, payload]);
  return Buffer.concat([begin, checksum(begin)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
