import { toFault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { oneLine } from '../../model/portal/settings/portal-configuration.ts'
import type { EventMail } from '../../publish/events/domain-events.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Mails that wait for those before them; further ones are dropped. */
const MOST_WAITING = 200
/** Members of what an event is about that say most about it: of requests, keys and APIs. */
const SHOWN_MEMBERS = ['id', 'api_id', 'name', 'key_hash', 'alias', 'apply_policies', 'org_id'] as const

/**
 * Sends the mails about events, one after the other, once each: for guaranteed delivery use a webhook. What goes wrong is
 * logged.
 */
export function eventMailer(parts: DashboardParts): (mail: EventMail) => void {
  let waiting = 0
  let queue = Promise.resolve()
  return (mail) => {
    if (!parts.mailer.isOn) return
    if (waiting >= MOST_WAITING) return parts.log.warn({ org_id: mail.orgId }, 'too many event mails, dropped one')
    waiting++
    queue = queue
      .then(() => parts.mailer.send({ to: mail.to, subject: oneLine(mail.event).slice(0, 150), text: textOf(mail) }))
      .catch((error: unknown) => {
        const { code, cause } = toFault(error)
        parts.log.error({ code, cause, org_id: mail.orgId }, 'cannot send an event mail')
      })
      .finally(() => {
        waiting--
      })
  }
}

/** Every value follows its name, so that none can pass for one of our lines. */
function textOf({ event, data }: EventMail): string {
  const body = aboutOf(data)
  const developer = isObject(body.portal_developer) ? body.portal_developer : {}
  const lines = [
    ...SHOWN_MEMBERS.filter((name) => Object.hasOwn(body, name)).map((name) => `${name}: ${shown(body[name]!)}`),
    ...(typeof developer.email === 'string' ? [`developer: ${shown(developer.email)}`] : []),
  ]
  return [`Event: ${event}`, lines.join('\n')].join('\n\n')
}

/** Events have the API within a wrapper. */
function aboutOf(data: Json): JsonObject {
  if (!isObject(data)) return {}
  return isObject(data.api_definition) ? data.api_definition : data
}

function shown(value: Json): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 500)
}
