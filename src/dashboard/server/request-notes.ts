import type { FastifyRequest } from 'fastify'
import { toFault } from '../../errors/fault.ts'
import { dashboardStatusOf } from '../../errors/render.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { auditOf } from '../../publish/documents/parts.ts'
import type { AuditRequest } from '../../store/ports/ports.ts'
import type { Actor } from '../access/actor.ts'
import type { RouteDeps } from '../access/admit.ts'
import type { Route } from '../routes/route.ts'
import { clientAddress } from './client-address.ts'
import { safeUrl } from './safe-url.ts'

const LONGEST_URL = 2000

/** The facts of a request for the audit log. */
export function requestFacts(
  route: Route,
  request: FastifyRequest,
  ip: string,
  actor: Actor | undefined,
): AuditRequest {
  const url = safeUrl(route, request.originalUrl, request.params as Record<string, string>).slice(0, LONGEST_URL)
  return { id: request.id, method: request.method, url, ip, user: nameOf(actor), status: 200 }
}

/** A call that succeeded. */
export interface CompletedCall {
  /** Its changes are recorded already. */
  readonly writes: boolean
  /** Request and response, without secrets. */
  readonly dumps: () => JsonObject
}

/**
 * Records a call that only read, where `audit.reads` asks for it, and of any call that is recorded what was sent and answered, where
 * `audit.detailed_recording` asks for that. @throws Fault `store_full`
 */
export async function noteDone(
  { parts }: RouteDeps,
  route: Route,
  request: AuditRequest,
  actor: Actor | undefined,
  { writes, dumps }: CompletedCall,
): Promise<void> {
  const { reads, detailed_recording: detailed } = parts.config.dashboard.audit
  if (actor === undefined || !(writes ? detailed : reads)) return
  await note(parts, route, request, actor, detailed ? dumps() : {})
}

/** Records a refusal of a known user for missing permissions. Strangers leave no record: they could fill the disk. */
export async function noteRefusal(
  { parts, trusted }: RouteDeps,
  route: Route,
  request: FastifyRequest,
  actor: Actor | undefined,
  error: unknown,
): Promise<void> {
  if (actor === undefined) return
  const refusal = toFault(error)
  if (refusal.entry.log !== 'silent') return
  const ip = clientAddress(request, trusted)
  const facts = { ...requestFacts(route, request, ip, actor), status: dashboardStatusOf(refusal) }
  try {
    await note(parts, route, facts, actor, { refused: refusal.code })
  } catch (cause) {
    parts.log.warn({ request_id: request.id, cause }, 'cannot record a refusal')
  }
}

function note(parts: RouteDeps['parts'], route: Route, request: AuditRequest, actor: Actor, detail: JsonObject) {
  return parts.documents.note({ ...auditOf(parts, nameOf(actor), route.summary, actor.orgId, detail), request })
}

const nameOf = (actor: Actor | undefined): string => (actor === undefined ? '' : actor.email || actor.userId)
