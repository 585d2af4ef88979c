import fc from "fast-check";
import { anyText } from "./any-text.ts";

/** Texts made of fragments that have a meaning for a runner, a terminal or a Markdown renderer. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "::",
        "##[",
        "##",
        "[",
        "]",
        "add-mask",
        "error",
        "warning file=a::",
        "stop-commands::x",
        "set-output name=a::b",
        "\n",
        "\r",
        "\u0085",
        "\u2028",
        "\u001b[31m",
        "\u009b31m",
        "\u202e",
        "\u00a0",
        "\ufeff",
        "\t",
        " ",
        "<img src=x>",
        "</code>",
        "</pre></details>",
        "&lt;",
        "@acme/team",
        "|",
        "```",
        "\ud800",
        "😀",
      ),
      anyText(),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));
