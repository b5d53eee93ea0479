/** How often the page asks how the nodes are while it is looked at. */
export const NODES_REFRESH_MS = 5000
/** How often it looks through all APIs. */
export const SYNC_STATUS_REFRESH_MS = 30_000
