import { html, pageHeader, pageStart } from "./html.ts";

/** Renders the start page, which links the pages of pull requests, in their order. */
export function renderPullRequestList(
  repositoryName: string,
  pullRequests: readonly { number: number; title: string }[],
): string {
  const items = pullRequests.map(
    ({ number, title }) =>
      `<li><a href="/pull/${number}">${html(title)}</a> <span class="quiet">#${number}</span></li>`,
  );
  const list =
    items.length === 0 ? "<p>The service has no pages of pull requests yet.</p>" : `<ul>${items.join("\n")}</ul>`;
  return `${pageStart("Pull requests")}${pageHeader(repositoryName)}<main>
<h1>Pull requests</h1>
${list}
</main>
</html>
`;
}
