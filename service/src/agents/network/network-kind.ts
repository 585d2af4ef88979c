/** What the operator can let agents reach. */
export const networkKinds = ["full", "model", "none"] as const;

export type NetworkKind = (typeof networkKinds)[number];
