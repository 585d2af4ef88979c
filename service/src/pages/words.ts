import { dollars } from "../cost.ts";
import type { Spent } from "../model.ts";
import { dayMs, hourMs } from "../time.ts";
import { type Html, html } from "./html.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the parts of a time in a zone, by their names. */
function partsOf(at: number, zone: string): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  let format = formats.get(zone);
  if (format === undefined) {
    const digits = "2-digit";
    format = new Intl.DateTimeFormat("en-US", {
      ...{ timeZone: zone, timeZoneName: "short", hourCycle: "h23", year: "numeric", month: digits, day: digits },
      ...{ hour: digits, minute: digits, second: digits },
    });
    formats.set(zone, format);
  }
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
}

/**
 * Renders a time in the zone of the reader, which browsers cannot do without a script.
 *
 * @param at - milliseconds since 1970
 */
export function time(at: number, zone: string): Html {
  const { year, month, day, hour, minute, timeZoneName } = partsOf(at, zone);
  return html`<time datetime="${new Date(at).toISOString()}">${year}-${month}-${day} ${hour}:${minute} ${timeZoneName}</time>`;
}

/** Renders a time of a day, without the day. */
export function clockTime(at: number, zone: string): Html {
  const { year, month, day, hour, minute, second } = partsOf(at, zone);
  const clock = `${hour}:${minute}:${second}`;
  return html`<time datetime="${new Date(at).toISOString()}" title="${year}-${month}-${day} ${clock}">${clock}</time>`;
}

/**
 * Returns when a day begins in a zone, in milliseconds since 1970; `undefined` if there is no such day.
 *
 * @param date - as `2026-11-27`
 */
export function startOfDay(date: string, zone: string): number | undefined {
  const utc = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(utc)) return undefined;
  // The first minute of that day: zones differ by at most 14 hours, and change their offset at a quarter of an hour.
  for (let at = utc - 14 * hourMs; at < utc + dayMs; at += hourMs / 4) {
    const { year, month, day } = partsOf(at, zone);
    if (`${year}-${month}-${day}` === date) return at;
  }
  return utc;
}

/** Returns a duration in words, with its two largest units, such as `3 min 20 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns a number of things in words. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Renders what a job took and cost so far; `undefined` if none of its turns has ended. */
export function spentWords({ tookMs, costUsd, unknownCosts }: Spent): Html | undefined {
  if (tookMs === 0) return undefined;
  const cost =
    costUsd > 0 &&
    html` · <span title="The agent's own estimate">${unknownCosts > 0 && "at least "}${dollars(costUsd) ?? `$${costUsd.toFixed(2)}`}</span>`;
  return html`<span class="words">${duration(tookMs)}</span>${cost}`;
}
