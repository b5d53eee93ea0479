import type { JsonObject } from '../../model/json/json.ts'
import { ownersOf } from '../../model/people/ownership.ts'
import type { Actor } from '../access/actor.ts'
import { NO_OWNER } from '../access/visibility.ts'

/** True when a given user owns an API in one of its states, or it has no owner; a deleted API has no other states. */
export function ownsState({ userId, groupId }: Pick<Actor, 'userId' | 'groupId'>, body: JsonObject): boolean {
  const mine = [NO_OWNER, `u:${userId}`, ...(groupId === '' ? [] : [`g:${groupId}`])]
  return ownersOf(body).some((owner) => mine.includes(owner))
}
