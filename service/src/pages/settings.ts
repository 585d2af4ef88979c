import type { IncomingMessage } from "node:http";
import type { Access } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import { readForm } from "./form.ts";
import { fieldValue, type Html, html } from "./html.ts";
import { pageEnd, pageHeader, pageStart } from "./layout.ts";
import { type PageReply, redirect } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { choiceCookie, defaultZone, isZone, type View } from "./view.ts";

const maxFormBytes = 4096;
/** More than a list of choices is good for. */
export const maxAskers = 500;

/** The page on which readers say who they are, and where. */
export class Settings {
  readonly #lists: Pick<PageStore["lists"], "askers">;
  readonly #bodies = new BodyReader(maxFormBytes);

  constructor({ store }: { store: Pick<PageStore, "lists"> }) {
    this.#lists = store.lists;
  }

  async show(view: View, { projects }: Access): Promise<PageReply> {
    return { status: 200, body: [renderSettings(view, await this.#lists.askers(projects, maxAskers))] };
  }

  /** Handles the form: a `POST` of `me` and `zone`. Then leads to the list of jobs. */
  async submit(request: IncomingMessage, { basePath }: View): Promise<PageReply> {
    const form = await readForm(request, this.#bodies);
    const [me = "", zone = ""] = [form.get("me")?.trim(), form.get("zone") ?? undefined];
    if (!isZone(zone)) throw new HttpException(400, "zone is not the name of a time zone");
    const cookies = [choiceCookie("me", me.slice(0, 200), basePath), choiceCookie("zone", zone, basePath)];
    return redirect(`${basePath}/`, cookies);
  }
}

function renderSettings(view: View, askers: readonly string[]): Html {
  const { basePath, me = "", zone } = view;
  const option = (name: string): Html =>
    html`<option value="${fieldValue(name)}"${name === zone && html` selected`}>${name}</option>`;
  return html`${pageStart("Settings")}${pageHeader(view)}<main class="narrow">
<h1>Settings</h1>
<p>This browser keeps them.</p>
<form method="post" action="${basePath}/settings">
<label for="me">Who you are</label>
<input id="me" name="me" value="${fieldValue(me)}" list="askers" autocomplete="off" maxlength="200" aria-describedby="me-hint">
<datalist id="askers">${askers.map((asker) => html`<option value="${fieldValue(asker)}">`)}</datalist>
<p class="quiet" id="me-hint">“My jobs” are those that this name asked for, such as a login of GitHub or the name of a key.</p>
<label for="zone">Time zone</label>
<select id="zone" name="zone">${[...new Set([defaultZone, zone, ...Intl.supportedValuesOf("timeZone")])].map(option)}</select>
<button>Save</button>
</form>
${pageEnd}`;
}
