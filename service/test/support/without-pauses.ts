import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";
import Bottleneck from "bottleneck";

/** Groups whose requests follow each other at once. */
class Group extends Bottleneck.Group {
  constructor({ minTime: _, ...options }: Bottleneck.ConstructorOptions = {}) {
    super(options);
  }
}

/*
 * The library pauses for one to three seconds between writes, as GitHub asks for. No test of the service is about that, and some write
 * often. All clients in a process share what the first one to send a request makes the pauses with: it is this one.
 */
const Client = Octokit.plugin(throttling);
const client = new Client({
  request: { fetch: async () => Response.json({}) },
  throttle: {
    Bottleneck: Object.assign(class extends Bottleneck {}, { Group }),
    onRateLimit: () => false,
    onSecondaryRateLimit: () => false,
  },
});
await client.request("GET /");
