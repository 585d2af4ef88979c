import { forHtml } from "../../runner-kit/untrusted.ts";

/** Renders the link to a job's page as HTML, for summary and reply. The client has checked the address. */
export function jobPageLink(url: string): string {
  return `<a href="${forHtml(url, url.length)}">Job page</a>`;
}
