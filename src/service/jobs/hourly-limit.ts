/** Creates, and messages, that are accepted per project in any hour. Specification: "Rate limits". */
export const hourlyLimit = 100;

export const hourMs = 3_600_000;
