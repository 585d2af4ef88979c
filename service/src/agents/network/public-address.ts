import { type LookupAddress, type LookupAllOptions, lookup as lookUp } from "node:dns";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";

/** Loopback, private and link-local addresses, with those where clouds serve the metadata of a machine, and what is no host at all. */
const denied = new BlockList();
for (const [address, prefix] of [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
  ] as const),
  ...([
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ] as const),
])
  denied.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
  ...([
    ["::", 128],
    ["::1", 128],
    ["fc00::", 7],
    ["fe80::", 9],
    ["ff00::", 8],
  ] as const),
  // Addresses of IPv4 in another form: of 6to4, and of a translator in the local network.
  ...([
    ["::", 96],
    ["2002::", 16],
    ["64:ff9b:1::", 48],
  ] as const),
])
  denied.addSubnet(address, prefix, "ipv6");

/** Returns whether an address is one of the public network. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !denied.check(address, "ipv4");
  // RFC 6052: the last 32 bits are an address of IPv4.
  const [, high, low] = /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/i.exec(address) ?? [];
  if (low !== undefined) {
    const bits = Number.parseInt(high ?? "0", 16) * 0x10000 + Number.parseInt(low, 16);
    return isPublicAddress([24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join("."));
  }
  return !/^64:ff9b::/i.test(address) && !address.includes("%") && !denied.check(address, "ipv6");
}

/** Names of the machine itself, of its network, and of the metadata of clouds. */
const localName = /^(?:localhost|[^.]+|.*\.(?:localhost|local|internal|localdomain|home\.arpa))\.?$/i;

/** Returns whether a name or an address may be one of the public network, before it is resolved. */
export const mayBePublic = (host: string): boolean =>
  isIP(host) === 0 ? !localName.test(host) : isPublicAddress(host);

/** Why a name is not resolved: what it stands for is none of the agents' business. */
export class PrivateAddress extends Error {}

/** Returns what resolves a name as `dns.lookup` does, and fails if it has an address that is not public: the next answer could be that one alone. */
export const publicLookup =
  (resolve: (host: string, options: LookupAllOptions, done: ResolveAll) => void): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error ?? new Error(`${hostname} has no address`), "");
      if (!addresses.every(({ address }) => isPublicAddress(address)))
        return callback(new PrivateAddress(`${hostname} is in a private network`), "");
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

type ResolveAll = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export const lookUpPublic = publicLookup(lookUp);
