import type { JsonObject } from '../../model/json/json.ts'
import type { PasswordRules } from '../../model/passwords/password-rules.ts'
import type { SealKey } from '../../model/secrets/secret.ts'
import type { Clock } from '../../model/time/clock.ts'
import { systemClock } from '../../model/time/clock.ts'
import type { KeyedMutex } from '../../runtime/keyed-mutex.ts'
import type { AuditEntry, Counters, Documents, Tokens } from '../../store/ports/ports.ts'

/** A gateway that callers reach, and the tags of the APIs that it loads. */
interface EdgeEndpoint {
  readonly name: string
  readonly endpoint: string
  readonly tags?: string[]
}

/** The settings that decide what may be stored. The whole configuration fits. */
export interface PublishSettings {
  readonly gateway: {
    readonly hash_keys: boolean
    readonly min_token_length: number
    readonly allow_explicit_policy_id: boolean
    readonly enable_duplicate_slugs: boolean
    /** Absent = none. */
    readonly upstream_sockets?: readonly string[]
    readonly public_url?: string
  }
  readonly dashboard?: {
    readonly public_url?: string
    readonly edge_endpoints?: readonly EdgeEndpoint[]
  }
  readonly compat: { readonly vendor_aliases: readonly string[] }
  /** Absent = addresses of key sets are not judged. */
  readonly webhooks?: { readonly allow_private: boolean }
}

/** The dependencies of publishing documents. */
export interface PublishParts {
  readonly documents: Documents
  readonly counters: Counters
  readonly config: PublishSettings
  /** Orders what checks something and then writes by it, in this process; between processes revisions do. */
  readonly locks: KeyedMutex
  /** Organisation of objects that name none; '' while there is none. */
  readonly defaultOrg: () => string
  /** The organisation of an API that this node has loaded, from a file too; absent = stored ones are all that is known. */
  readonly orgOfLoaded?: (apiId: string) => string | undefined
  /** The system's unless given. */
  readonly clock?: Clock
  /** As in `DeletedIdParts`. */
  readonly keepsDeletedIds?: boolean
}

/** The dependencies of reading sessions. */
export interface SessionParts extends PublishParts {
  readonly tokens: Tokens
}

/** The further dependencies of keys and certificates. */
export interface SecretParts extends SessionParts {
  /** 32 bytes that private keys and shown-again keys are sealed with. */
  readonly sealKey: SealKey
  /** The rules for passwords of users; absent = at least eight characters. */
  readonly passwordRules?: PasswordRules
  /** The same for dashboard users, and for developers of the portal. */
  readonly userPasswordRules?: PasswordRules
  readonly developerPasswordRules?: PasswordRules
}

/**
 * Runs `work` when everything that was handed in before with the same parts has ended, so that a check and the write that relies on it are
 * not parted by another write of this process.
 */
export function withLock<T>({ locks }: Pick<PublishParts, 'locks'>, work: () => Promise<T>): Promise<T> {
  return locks.run('documents', work)
}

/** The clock that dates are read from. */
export function clockOf(parts: Pick<PublishParts, 'clock'>): Clock {
  return parts.clock ?? systemClock
}

/** An audit entry of this moment. `detail` names ids and hashes only. */
export function auditOf(
  parts: Pick<PublishParts, 'clock'>,
  actor: string,
  action: string,
  orgId: string,
  detail: JsonObject,
): AuditEntry {
  return { actor, action, orgId, at: clockOf(parts).wall(), detail }
}

/** The organisation that a body names, else the default one. */
export function orgOf(parts: PublishParts, named: unknown): string {
  return typeof named === 'string' && named !== '' ? named : parts.defaultOrg()
}
