import { type Content, Html, html } from "./html.ts";
import { style } from "./style.ts";
import type { View } from "./view.ts";

const styleSheet = new Html(style);

/** Returns the beginning of a page, up to its content. */
export function pageStart(title: string, head?: Html): Html {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${head}<title>${title}</title>
<style>${styleSheet}</style>
`;
}

export const pageEnd = html`</main>
</html>
`;

/**
 * Returns the header of every page that requires a session, with what keeps jobs from going on.
 *
 * @param repositoryName - default: none, because the page shows several repositories
 */
export function pageHeader({ basePath, me, problems }: View, repositoryName = ""): Html {
  const mine = me === undefined ? "settings" : `?${new URLSearchParams({ asker: me })}`;
  return html`<header><nav><a href="${basePath}/">Jobs</a> <a href="${basePath}/${mine}">My jobs</a> <a href="${basePath}/costs">Costs</a>
<a href="${basePath}/settings">Settings</a> <span class="quiet">${repositoryName}</span></nav>
<form method="post" action="${basePath}/sign-out"><button class="link">Sign out</button></form></header>
${
  problems.length > 0 &&
  html`<div class="banner" role="status">${problems.map((problem) => html`<p>${problem}</p>`)}</div>
`
}`;
}

/** Returns a page with one sentence and, below it, other content. */
export function messagePage(title: string, text: string, content?: Content): Html {
  return html`${pageStart(title)}<main>
<h1>${title}</h1>
<p>${text}</p>
${content}${pageEnd}`;
}
