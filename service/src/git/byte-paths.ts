/** A path or name as text of which each character is a byte, because names of files need not be UTF-8. */
export type BytePath = string;

/** Returns the bytes of a path of the service itself, which is UTF-8. */
export const bytesOf = (path: string): Buffer => Buffer.from(path);

/** Returns the path of something in a folder. */
export function joinBytes(folder: Buffer, path: BytePath): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), Buffer.from(path, "latin1")]);
}

/** Returns a path for people. */
export const showPath = (path: BytePath): string => Buffer.from(path, "latin1").toString();
