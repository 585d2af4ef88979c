import { html, pageHeader, pageStart } from "./html.ts";

/** A pull request in the list. */
export interface ListedPullRequest {
  number: number;
  title: string;
  repositoryName: string;
}

/**
 * Renders the start page, which links the pages of pull requests, in their order.
 *
 * @param repositoryNames - those of the service. If there are several, each pull request has that of its own
 */
export function renderPullRequestList(
  repositoryNames: readonly string[],
  pullRequests: readonly ListedPullRequest[],
): string {
  const [only = "", ...others] = repositoryNames;
  const items = pullRequests.map(({ number, title, repositoryName }) => {
    const where = others.length === 0 ? "" : ` ${repositoryName}`;
    return `<li><a href="/pull/${number}">${html(title)}</a> <span class="quiet">#${number}${html(where)}</span></li>`;
  });
  const list =
    items.length === 0 ? "<p>The service has no pages of pull requests yet.</p>" : `<ul>${items.join("\n")}</ul>`;
  return `${pageStart("Pull requests")}${pageHeader(others.length === 0 ? only : "All repositories")}<main>
<h1>Pull requests</h1>
${list}
</main>
</html>
`;
}
