/** Commands that talk to the repository's host. */
const remoteCommands = ["ls-remote", "fetch", "push"];

/** What Git, curl and ssh say if a host cannot be reached, or answers with an error of its own. */
const outages =
  /Could not resolve host|Temporary failure in name resolution|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out|closed by)|Operation (?:timed out|too slow)|Network is unreachable|No route to host|Empty reply from server|unexpected disconnect|early EOF|HTTP (?:429|5\d\d)|returned error: (?:429|5\d\d)|RPC failed; curl|SSL_ERROR_SYSCALL|TLS connection was non-properly terminated|unexpected eof while reading|Internal Server Error/i;

/** What it says besides if a retry would not help. */
const rejections = /Permission denied|Authentication failed|Host key verification failed|returned error: 4(?!29)\d\d/i;

/**
 * Returns whether a failed command says that the repository's host cannot be reached now.
 *
 * @param stderr - its end
 */
export function saysRemoteOutage(command: string | undefined, stderr: string): boolean {
  return remoteCommands.includes(command ?? "") && outages.test(stderr) && !rejections.test(stderr);
}
