import { plain, type Text } from "../../../src/runner-kit/text.ts";

/** Thrown when the service cannot start because of the workflow or the runner. The text says what to change. */
export class SetupError extends Error {
  override readonly name = "SetupError";
  readonly title: string;
  readonly text: Text;

  constructor(title: string, text: Text) {
    super(plain(text));
    this.title = title;
    this.text = text;
  }
}
