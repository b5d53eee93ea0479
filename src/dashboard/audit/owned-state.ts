import type { JsonObject } from '../../model/json/json.ts'
import { ownersOf } from '../../model/people/ownership.ts'
import type { Actor } from '../access/actor.ts'
import { NO_OWNER } from '../access/visibility.ts'

/** True when somebody owns an API as it stands in one state of it, or nobody does: an API that is gone has no others. */
export function ownsState({ userId, groupId }: Pick<Actor, 'userId' | 'groupId'>, body: JsonObject): boolean {
  const mine = [NO_OWNER, `u:${userId}`, ...(groupId === '' ? [] : [`g:${groupId}`])]
  return ownersOf(body).some((owner) => mine.includes(owner))
}
