export const dayMs = 86_400_000;

/** Returns a number of days as text: "1 day", "2 days", "0.5 days". */
export const days = (count: number): string => `${count} ${count === 1 ? "day" : "days"}`;
