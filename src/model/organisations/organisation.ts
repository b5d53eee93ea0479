import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../documents/ids.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** An organisation as it is stored and shown; unknown members are kept. */
export interface Organisation {
  readonly owner_name: string
  readonly owner_slug: string
  readonly cname: string
  readonly cname_enabled: boolean
  readonly sso_enabled: boolean
  /** Custom permissions of the organisation by key, with what they are called; undefined = those of the settings. */
  readonly additional_permissions?: Readonly<Record<string, string>>
}

export interface StoredOrganisation {
  readonly id: DocumentId
  readonly revision: number
  readonly body: JsonObject
}

/** The fields of every organisation, with their defaults. */
const FIELDS: Readonly<Record<string, Json>> = {
  owner_name: '',
  owner_slug: '',
  cname: '',
  cname_enabled: false,
  apis: [],
  developer_quota: 0,
  developer_count: 0,
  hybrid_enabled: false,
  sso_enabled: false,
  event_options: {},
  org_options_meta: {},
  ui: {},
}
const LONGEST = 256
/** Most entries of each list and object. */
const MOST_MEMBERS = 1000

/**
 * Brings an organisation as it comes over the wire into the form that is stored: every field there, of its type, unknown ones
 * kept, ids left out. @throws Fault `organisation_invalid` (400) naming the field
 */
export function readOrganisation(sent: JsonObject): JsonObject {
  const { id: _id, _id: _storage, sso_epoch: _ours, additional_permissions: extra, ...rest } = sent
  const found: JsonObject = {}
  for (const [name, usual] of Object.entries(FIELDS)) {
    const value = rest[name] ?? usual
    if (!sameType(value, usual)) throw fault('organisation_invalid', `${name}: must be ${typeName(usual)}`)
    const count = typeof value === 'object' && value !== null ? Object.keys(value).length : 0
    if (count > MOST_MEMBERS)
      throw fault('organisation_invalid', `${name}: must not hold more than ${MOST_MEMBERS} entries (${count})`)
    found[name] = value
  }
  const name = found.owner_name as string
  if (name.length > LONGEST || /[\x00-\x1f\x7f]/.test(name))
    throw fault('organisation_invalid', `owner_name: at most ${LONGEST} characters, and no control characters`)
  return { ...rest, ...found, ...(extra != null && { additional_permissions: checkPermissionNames(extra) }) }
}

/** An organisation as callers see it. */
export function organisationShape({ id, body }: Pick<StoredOrganisation, 'id' | 'body'>): JsonObject {
  const { sso_epoch: _ours, ...shown } = body
  return { id, ...FIELDS, ...shown }
}

/** Changes whenever single sign-on is switched off: what was opened by it before has ended, and stays so. */
export function ssoEpochOf({ sso_epoch: epoch }: JsonObject): string {
  return typeof epoch === 'string' ? epoch : ''
}

const KEY = /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/
/** Most custom permissions of one organisation. */
const MOST = 200
const TAKEN: ReadonlySet<string> = new Set(['IsAdmin', 'ResetPassword', 'owned_analytics', 'constructor', 'prototype'])

/** Checks a map of custom permissions: key to what it is called. @throws Fault `organisation_invalid` (400) */
export function checkPermissionNames(value: unknown): { [key: string]: string } {
  if (!isObject(value)) throw fault('organisation_invalid', 'additional_permissions: must be an object of texts')
  const entries = Object.entries(value)
  if (entries.length > MOST) throw fault('organisation_invalid', `additional_permissions: at most ${MOST} of them`)
  for (const [key, label] of entries) {
    if (!KEY.test(key) || TAKEN.has(key))
      throw fault('organisation_invalid', 'additional_permissions: a key must be a word of letters, digits, _ . : or -')
    if (typeof label !== 'string' || label.length > LONGEST)
      throw fault('organisation_invalid', `additional_permissions: what ${key} is called must be a text`)
  }
  return Object.fromEntries(entries) as { [key: string]: string }
}

function sameType(value: Json, usual: Json): boolean {
  if (Array.isArray(usual)) return Array.isArray(value)
  if (isObject(usual)) return isObject(value)
  return typeof value === typeof usual
}

function typeName(usual: Json): string {
  if (Array.isArray(usual)) return 'a list'
  return isObject(usual) ? 'an object' : `a ${typeof usual}`
}
