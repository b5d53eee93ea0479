import type { JsonObject } from '../../model/json/json.ts'
import { arrayOf, closedObjectOf, oneOf, said, text } from '../../model/openapi/component-schemas.ts'

/** The description of one call of the administration API. */
export interface AdminOperation {
  /** Verb and noun; never changes. */
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** Query parameters by name, each with its schema. */
  readonly query?: Readonly<Record<string, JsonObject>>
  readonly requires?: readonly string[]
  /** Schemas of the body by media type. */
  readonly body?: Readonly<Record<string, JsonObject>>
  readonly isBodyOptional?: true
  /** Schema of the answer 200, and of others by status. */
  readonly answer: JsonObject
  readonly answers?: Readonly<Record<number, JsonObject>>
  /** Media type of the answer; absent = JSON. */
  readonly answerType?: string
  /** Response fields of the answer 200, by name. */
  readonly fields?: Readonly<Record<string, string>>
  /** Refusals beyond those that follow from method and path. */
  readonly refusals?: readonly number[]
}

/** Descriptions by method and path; `alias-only` for a call that is not found below `/svc/`. */
export type AdminOperations = Readonly<Record<string, AdminOperation | 'alias-only'>>

export const WARNING_LIST = arrayOf(
  closedObjectOf('Warning', {
    path: said(text, 'Place of the member, with dots, such as `proxy.target_url`.'),
    message: said(text, 'What is wrong, as text for people.'),
  }),
)

/** The answer of a call that changed the object `key`. */
export function changedObject(
  title: string,
  actions: readonly string[],
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return closedObjectOf(
    title,
    {
      key: said(text, 'Id of the object.'),
      status: said(oneOf('ok'), 'Always `ok`.'),
      action: said(oneOf(...actions), 'What was done to it.'),
    },
    optional,
  )
}

/** The answer of a call that only succeeds. */
export const Done = closedObjectOf('Done', {
  status: said(oneOf('ok'), 'Always `ok`.'),
  message: said(text, 'Outcome, as text for people.'),
})

/** The refusal of every call. */
export const Refusal = closedObjectOf('Refusal', {
  status: said(oneOf('error'), 'Always `error`.'),
  message: said(text, 'Reason, as text for people.'),
})

/** A body in JSON. */
export const inJson = (schema: JsonObject) => ({ 'application/json': schema })
/** A body of form fields, or in JSON. */
export const inFormOrJson = (schema: JsonObject) => ({
  'application/x-www-form-urlencoded': schema,
  'application/json': schema,
})

export const PAGE = { p: said({ type: 'integer', minimum: 1 }, 'Page, from 1 on; absent: everything.') }
export const OF_ORGANISATION = { org_id: said(text, 'Organisation.') }
export const PAGE_COUNT = { 'X-Pages': 'Number of pages, where pages were asked for.' }
