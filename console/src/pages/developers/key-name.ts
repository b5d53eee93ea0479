import type { DeveloperKey } from '../../api/portal/developers.ts'

const SHOWN = 10

/** How a key is called: keys have no names, and the whole hash is too long to read. */
export function keyName({ key_id }: DeveloperKey): string {
  return key_id.slice(0, SHOWN)
}
