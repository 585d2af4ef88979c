/** Formats events as a stream; each is named after its type if it has one. */
export function serverSentEvents(events: readonly object[]): string {
  return events
    .map((event) => `${"type" in event ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`)
    .join("");
}
