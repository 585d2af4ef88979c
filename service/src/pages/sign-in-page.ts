import { type Html, html } from "./html.ts";
import { pageEnd, pageStart } from "./layout.ts";

/**
 * Renders the form that asks for the API key.
 *
 * @param basePath - see `basePathOf`
 * @param next - the path to go to after signing in, below the base path
 * @param error - why the last attempt failed
 */
export function renderSignInPage(basePath: string, next: string, error?: string): Html {
  return html`${pageStart("Sign in")}<main class="narrow">
<h1>Sign in</h1>
<p>This page is only for those who have an API key of the agent job service.</p>
${error !== undefined && html`<p class="minus" role="alert">${error}</p>\n`}<form method="post" action="${basePath}/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="key">API key</label>
<input id="key" type="password" name="key" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>
${pageEnd}`;
}

/** Renders a page that loads `path` again, now from this site, so that the browser sends the cookie along. */
export function renderReloadPage(path: string): Html {
  return html`${pageStart("Agent job service", html`<meta http-equiv="refresh" content="0; url=${path}">\n`)}<main>
<p><a href="${path}">Continue</a></p>
${pageEnd}`;
}
