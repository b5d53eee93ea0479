import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { DroppedRecords, RecordInput, RecordQuery, RecordRow } from '../ports/records.ts'
import { bodyText, wellFormed, wholeNumber } from './cells.ts'

const MINUTE_MS = 60_000

/** A record as a row. */
export interface PreparedRecord {
  readonly at: number
  readonly orgId: string
  readonly apiId: string
  readonly status: number
  readonly method: string
  readonly keyHash: string
  readonly clientId: string
  /** Between commas: `,a,b,`. */
  readonly tags: string
  readonly path: string
  readonly requestId: string
  readonly fields: string
  /** Both undefined without details. */
  readonly request: Uint8Array<ArrayBuffer> | undefined
  readonly response: Uint8Array<ArrayBuffer> | undefined
}

export interface PreparedDrop {
  /** Since 1970. */
  readonly minute: number
  readonly orgId: string
  readonly apiId: string
  readonly count: number
}

/** The conditions on a row; undefined members are no condition. */
export interface PreparedRecordQuery {
  readonly orgId: string | undefined
  readonly apiIds: readonly string[] | undefined
  readonly from: number
  readonly to: number
  readonly status: number | undefined
  readonly errors: boolean
  readonly method: string | undefined
  readonly keyHash: string | undefined
  readonly clientId: string | undefined
  /** Between commas. */
  readonly tag: string | undefined
  readonly path: string | undefined
  readonly requestId: string | undefined
}

/** Checks and copies a record. @throws Fault `internal` for a malformed one */
export function prepareRecord(record: RecordInput): PreparedRecord {
  const { detail } = record
  return {
    at: wholeNumber(record.at),
    orgId: text(record.orgId),
    apiId: text(record.apiId),
    status: wholeNumber(record.status),
    method: text(record.method),
    keyHash: text(record.keyHash),
    clientId: text(record.clientId),
    tags: between(text(record.tags)),
    path: text(record.path),
    requestId: text(record.requestId),
    fields: bodyText(record.fields),
    request: detail && Uint8Array.from(detail.request),
    response: detail && Uint8Array.from(detail.response),
  }
}

/** Checks and copies. @throws Fault `internal` for a malformed one */
export function prepareDrop({ at, orgId, apiId, count }: DroppedRecords): PreparedDrop {
  return {
    minute: Math.floor(wholeNumber(at) / MINUTE_MS),
    orgId: text(orgId),
    apiId: text(apiId),
    count: wholeNumber(count),
  }
}

/** Checks and copies what is asked for. @throws Fault `internal` for a malformed one */
export function prepareRecordQuery(query: RecordQuery): PreparedRecordQuery {
  const given = (value: string | undefined) => (value === undefined || value === '' ? undefined : text(value))
  const tag = given(query.tag)
  return {
    orgId: query.orgId === undefined ? undefined : text(query.orgId),
    apiIds: idsOf(query.apiId),
    from: query.from === undefined ? 0 : wholeNumber(query.from),
    to: query.to === undefined ? Number.MAX_SAFE_INTEGER : wholeNumber(query.to),
    status: query.status === undefined ? undefined : wholeNumber(query.status),
    errors: query.errors === true,
    method: given(query.method)?.toUpperCase(),
    keyHash: given(query.keyHash),
    clientId: given(query.clientId),
    tag: tag && between(tag),
    path: given(query.path),
    requestId: given(query.requestId),
  }
}

/** The first and the last minute that a time touches. */
export function minutesOf({ from, to }: { readonly from: number; readonly to: number }): {
  first: number
  last: number
} {
  return { first: Math.floor(from / MINUTE_MS), last: Math.floor(Math.max(0, to - 1) / MINUTE_MS) }
}

/** A row as callers get it. */
export function toRecord(id: number, row: PreparedRecord): RecordRow {
  const { fields, request, response, tags, ...plain } = row
  return {
    id,
    ...plain,
    tags: tags.slice(1, -1),
    fields: readFields(fields),
    ...(request !== undefined && response !== undefined && { detail: { request, response } }),
  }
}

function readFields(fields: string): JsonObject {
  const value: unknown = JSON.parse(fields)
  return isObject(value) ? value : {}
}

function idsOf(asked: RecordQuery['apiId']): readonly string[] | undefined {
  if (asked === undefined || asked === '') return undefined
  return (typeof asked === 'string' ? [asked] : asked).map(text)
}

const between = (tags: string) => (tags === '' ? '' : `,${tags},`)

/** A NUL would end the text for some functions of SQL, so that a search found less than there is. */
function text(value: string): string {
  const whole = wellFormed(value)
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole
}
