import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldValue, html } from "../../../src/pages/html.ts";

const render = (content: Parameters<typeof html>[1]) => String(html`<p title="${content}">`);

test("text is escaped, so that it ends neither an attribute nor a tag", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "&", "a", ";", "/") }), (text) => {
      const inner = render(text).slice('<p title="'.length, -'">'.length);
      expect(inner).not.toMatch(/[<>"']/);
      const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" } as Record<
        string,
        string
      >;
      expect(inner.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? "")).toBe(text);
    }),
  );
});

test("a template holds others, lists, numbers and nothing", () => {
  expect(render([html`<b>`, "<b>", 0, [1, undefined]])).toBe('<p title="<b>\n&lt;b&gt;\n0\n1\n">');
  expect(render(undefined) + render(false) + render("")).toBe('<p title="">'.repeat(3));
});

test("characters that reorder a text are shown, but sent back as they are by a field", () => {
  expect(render("a\u202eb\u2066")).toBe('<p title="a[U+202e]b[U+2066]">');
  expect(render(fieldValue('a\u202e"<'))).toBe('<p title="a\u202e&quot;&lt;">');
});
