/** What is asked of a service. `section` is a heading of docs/protocol.md, as in its anchor. */
export interface Requirement {
  section: string;
  text: string;
}

/** What every service must do, in the order of the checks. */
const required = {
  "read-without-key": { section: "authentication", text: "A read without a key is answered with 401" },
  "read-with-wrong-key": { section: "authentication", text: "A read with a wrong key is answered with 401" },
  "unknown-job": { section: "read-a-job", text: "A read of a job that does not exist is answered with 404" },
  "error-body": { section: "errors", text: "An error is a JSON object, whose `error` is a text if it is there" },
  "create-without-key": { section: "authentication", text: "A create without a key is answered with 401" },
  "create-with-wrong-key": { section: "authentication", text: "A create with a wrong key is answered with 401" },
  "create-without-prompt": { section: "create-a-job", text: "A create without `prompt` is rejected" },
  "create-with-empty-prompt": { section: "create-a-job", text: "A create with an empty `prompt` is rejected" },
  "create-with-number": { section: "create-a-job", text: "A create whose `prompt` is a number is rejected" },
  "create-not-json": { section: "create-a-job", text: "A create whose body is not JSON is rejected" },
  "create-accepted": { section: "create-a-job", text: "A create is answered with 2xx and a job within 30 seconds" },
  "create-record": { section: "the-job", text: "The answer to a create is a valid job" },
  "read-accepted": { section: "read-a-job", text: "A read is answered with 200 and the job that was asked for" },
  "read-record": { section: "the-job", text: "Every read is answered with a valid job" },
  "other-project": { section: "read-a-job", text: "The job cannot be read in another project" },
  "job-ends": { section: "the-job", text: "The job ends: completed, failed or archived" },
  "message-without-key": { section: "authentication", text: "A message without a key is answered with 401" },
  "message-without-prompt": { section: "send-a-message", text: "A message without `prompt` is rejected" },
  "message-with-empty-prompt": { section: "send-a-message", text: "A message with an empty `prompt` is rejected" },
  "message-to-unknown-job": {
    section: "send-a-message",
    text: "A message to a job that does not exist is answered with 404",
  },
  "message-accepted": {
    section: "send-a-message",
    text: "A message is answered with 2xx and the same job within 30 s",
  },
  "message-record": { section: "the-job", text: "The answer to a message is a valid job" },
  "message-ends": { section: "send-a-message", text: "The job ends again after the message" },
} satisfies Record<string, Requirement>;

/** What a service must do that offers something more. */
const offered = {
  "held-read": { section: "held-reads", text: "A read with `Prefer: wait` is held as `Preference-Applied` says" },
  "job-page": { section: "the-page-of-a-job", text: "The page in `Link` is on the origin of the service" },
  lookup: { section: "what-was-sent-for-a-step", text: "The list of a step has `features` and valid `turns`" },
  "lookup-own-turn": { section: "what-was-sent-for-a-step", text: "The list has the turn of a create with a key" },
  "lookup-own-message": {
    section: "what-was-sent-for-a-step",
    text: "The list has the turn of a message with a key, too",
  },
  "unknown-session": { section: "sessions", text: "A session that no create has named has no job: `null`" },
  session: { section: "sessions", text: "The session of a create has its job" },
  replay: { section: "one-request-one-job", text: "The same create with the same key is answered with the same job" },
  "replay-header": { section: "one-request-one-job", text: "That answer has `Idempotent-Replayed: true`" },
  "reused-key": { section: "one-request-one-job", text: "Another prompt with the same key is answered with 422" },
  "stop-ended-turn": {
    section: "stop-a-turn",
    text: "A stop of a turn that has ended is answered with 200 and its end",
  },
  "stop-unknown-turn": {
    section: "stop-a-turn",
    text: "A stop of a turn that does not exist is answered with 404",
  },
  "unknown-base": { section: "another-branch", text: "A create from a branch that does not exist is rejected" },
} satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof required | keyof typeof offered;

export const requirements: Readonly<Record<RequirementId, Requirement>> = { ...required, ...offered };
