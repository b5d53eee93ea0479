/** How often the page asks how the nodes are while it is looked at. */
export const LOOK_AGAIN_MS = 5000
/** How often it looks through all APIs. */
export const LOOK_THROUGH_MS = 30_000
