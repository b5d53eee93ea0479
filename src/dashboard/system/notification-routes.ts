import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { JsonObject } from '../../model/json/json.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { bare } from '../routes/answer.ts'
import type { Route } from '../routes/route.ts'
import { moment, storageId } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const DAY_MS = 86_400_000
const WARN_MS = 30 * DAY_MS
const CRITICAL_MS = 7 * DAY_MS
/** Certificates that are looked at, those that end first. */
const TOPIC = 'certificate.expiry'

const Notification = Type.Object(
  {
    id: storageId('Id of the notification: 24 hexadecimal digits. It stays the same as long as the reason does.'),
    created_at: moment('Time since which the reason holds (RFC 3339).'),
    org_id: Type.String({ description: 'Id of the organisation.' }),
    hash: Type.String({ description: 'SHA-256 of topic, subject and kind.' }),
    kind: Type.Enum(['critical', 'warning'], { description: '`critical` or `warning`.' }),
    topic: Type.String({ description: 'What it is about.' }),
    title: Type.String({ description: 'One line for people.' }),
    message: Type.String({ description: 'Text for people.' }),
    data: Type.Object(
      {
        cert_id: Type.String({ description: 'Id of the certificate.' }),
        subject: Type.String({ description: 'Distinguished name of the subject.' }),
        not_after: moment('End of its validity (RFC 3339).'),
      },
      { title: 'NotificationSubject', description: 'The certificate that it is about.' },
    ),
  },
  { title: 'Notification' },
)

/** Notifications for administrators: `/api/org/notifications`. They are computed from the store, so there is nothing to refresh. */
export function notificationRoutes({ documents, clock }: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/org/notifications',
      access: { permission: 'system' },
      summary: 'List stored certificates that have expired or expire within 30 days',
      query: { refresh: Type.Boolean() },
      answers: { 200: Type.Array(Notification) },
      run: async (call) => {
        const found: JsonObject[] = []
        const query = { where: call.visibility.whereOrg(), order: 'not_after' }
        for await (const batch of documents.each('certificate', query)) {
          const ending = batch.flatMap((stored) => notificationOf(stored, clock.wall()))
          found.push(...ending)
          // In the order of their ends: those that follow end later still.
          if (ending.length < batch.length) break
        }
        return bare(found)
      },
    },
  ]
}

function notificationOf({ body }: StoredDocument, now: Millis): JsonObject[] {
  const endsAt = Date.parse(String(body.not_after))
  const leftMs = endsAt - now
  if (!(leftMs < WARN_MS)) return []
  const critical = leftMs < CRITICAL_MS
  const kind = critical ? 'critical' : 'warning'
  const certId = String(body.cert_id)
  // The same for as long as the reason is.
  const hash = createHash('sha256').update(`${TOPIC} ${certId} ${kind}`).digest('hex')
  const subject = String(body.subject ?? '')
  const days = Math.floor(Math.abs(leftMs) / DAY_MS)
  const when = leftMs <= 0 ? `expired ${days} days ago` : `expires in ${days} days`
  return [
    {
      id: hash.slice(0, 24),
      created_at: new Date(endsAt - (critical ? CRITICAL_MS : WARN_MS)).toISOString(),
      org_id: String(body.org_id),
      hash,
      kind,
      topic: TOPIC,
      title: leftMs <= 0 ? 'Certificate has expired' : 'Certificate is about to expire',
      message: `The certificate ${subject} ${when}`,
      data: { cert_id: certId, subject, not_after: String(body.not_after) },
    },
  ]
}
