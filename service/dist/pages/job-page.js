// Keeps the page of a job up to date while its turns run: appends to the log, and replaces what is said about the job and
// its turns. Without this script, the page shows how it was when it was loaded.

const maxLogLength = 1_000_000;
const maxLogLines = 20_000;
const retryMs = 30_000;

const main = document.querySelector("main");
const log = document.getElementById("log");
const connection = document.getElementById("connection");
const jobPath = main.dataset.job;

/** What was appended to the log, oldest first, to be removed again. */
const parts = [{ node: log.firstChild, ...sizeOf(log.textContent) }];
let length = parts[0].length;
let lines = parts[0].lines;
let position = log.dataset.position;

function sizeOf(text) {
  return { length: text.length, lines: text.split("\n").length - 1 };
}

function append(text) {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 16;
  const part = { node: document.createTextNode(text), ...sizeOf(text) };
  log.append(part.node);
  parts.push(part);
  length += part.length;
  lines += part.lines;
  while (parts.length > 1 && (length > maxLogLength || lines > maxLogLines)) {
    const first = parts.shift();
    first.node?.remove();
    length -= first.length;
    lines -= first.lines;
    document.getElementById("cut").hidden = false;
  }
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

/** Replaces an element, unless nothing changed, so that neither the focus nor what is open gets lost. */
function replace(old, updated) {
  const details = old.querySelector("details");
  if (details) updated.querySelector("details")?.toggleAttribute("open", details.open);
  // Added by this script.
  for (const elapsed of old.querySelectorAll("[data-since]")) elapsed.textContent = "";
  if (old.isEqualNode(updated)) return;
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(updated);
  if (hadFocus) updated.querySelector("summary, a, button")?.focus();
}

/** Replaces what is in an element, which screen readers announce if it is a status. */
function replaceContent(old, updated) {
  if (!old.isEqualNode(updated)) old.replaceChildren(...updated.childNodes);
}

/** Shows for how long turns have been running, by the clock of the browser. */
function showElapsed() {
  for (const elapsed of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - Number(elapsed.dataset.since)) / 1000));
    const minutes = Math.floor(seconds / 60);
    elapsed.textContent = minutes === 0 ? `(${seconds} s)` : `(${minutes} min ${seconds % 60} s)`;
  }
}

setInterval(showElapsed, 1000);

/** Loads the page, and shows what it says now. */
async function refresh() {
  const response = await fetch(jobPath, { redirect: "error", cache: "no-store" });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const id of ["status", "facts"]) replaceContent(document.getElementById(id), page.getElementById(id));
  const list = document.querySelector("#turns ol");
  const updated = page.querySelector("#turns ol");
  for (const item of [...list.children]) if (!page.getElementById(item.id)) item.remove();
  for (const item of [...updated.children]) {
    const old = document.getElementById(item.id);
    if (old) replace(old, item);
    else list.append(item);
  }
  showElapsed();
  main.dataset.progress = page.querySelector("main").dataset.progress;
}

/** The progress of the job that the service told last. */
let progress = main.dataset.progress;
let refreshing = false;

/** Shows a progress that the page does not show yet. What changes while the page is loaded is shown after that. */
async function showProgress() {
  if (refreshing) return;
  refreshing = true;
  try {
    for (let tries = 0; progress !== main.dataset.progress && tries < 3; tries++) await refresh();
  } catch {
    // The next event tries again.
  } finally {
    refreshing = false;
  }
}

let source;

function disconnect() {
  source?.close();
  source = undefined;
}

function connect() {
  disconnect();
  source = new EventSource(`${jobPath}/events?after=${position}`);
  source.addEventListener("open", () => {
    connection.textContent = "live";
  });
  source.addEventListener("log", ({ data, lastEventId }) => {
    position = lastEventId;
    append(JSON.parse(data));
  });
  source.addEventListener("state", ({ data }) => {
    progress = data;
    void showProgress();
  });
  source.addEventListener("end", () => {
    disconnect();
    connection.textContent = "";
  });
  source.addEventListener("error", () => {
    connection.textContent = "connection lost, trying again";
    // Otherwise the browser tries again itself.
    if (source?.readyState !== EventSource.CLOSED) return;
    disconnect();
    setTimeout(() => document.hidden || source || connect(), retryMs);
  });
}

// Other pages, which have no script, show times in this zone. Whoever has chosen one keeps it.
if (!document.cookie.includes("agent-jobs-zone=")) {
  const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone);
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox and Safari have had no other way for long.
  document.cookie = `agent-jobs-zone=${zone}; Path=${jobPath.replace(/\/job\/[^/]*$/, "") || "/"}; SameSite=Lax; Max-Age=31536000`;
}

// Browsers allow few connections to a server at a time, so a page that nobody sees has none.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));

log.scrollTop = log.scrollHeight;
if (!document.hidden) connect();

// A second click must not send a message twice. A page from the browser's history can be used again.
// Readers who may send none have no form.
const form = document.querySelector("form.message");
form?.addEventListener("submit", () => {
  form.querySelector("button").disabled = true;
});
addEventListener("pageshow", () => {
  if (form) form.querySelector("button").disabled = false;
});
