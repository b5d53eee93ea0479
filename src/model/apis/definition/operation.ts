import type { BodyTemplate } from '../../body-templates/parse.ts'
import type { Json } from '../../json/json.ts'
import type { PatternWork } from '../../patterns/pattern-work.ts'

/** An answer that is given in the upstream's place. */
export interface MockAnswer {
  readonly status: number
  /** Names and values that a head may carry; none that frames a message. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** One example of an OpenAPI document. */
export interface MockExample extends MockAnswer {
  /** The member of `responses`: a status, a range (`4XX`) or `default`. */
  readonly code: string
  /** Name among the `examples` of its media type; '' = the only one. */
  readonly name: string
  /** Media type without parameters, lower case; '' = an answer without a body. */
  readonly mediaType: string
}

/** The mock of an operation: one response, or its examples in the OpenAPI document. */
export type MockRule =
  | {
      readonly fixed: MockAnswer
      /** True where an entry of a list replies itself: then its path is matched as those of lists are. */
      readonly listed?: boolean
    }
  | {
      readonly fixed: undefined
      readonly examples: readonly MockExample[]
      /** Which of them, where the caller does not say; 0 and '' = the first there is. */
      readonly status: number
      readonly mediaType: string
      readonly name: string
    }

/** One thing that is wrong with a request: where, and what, in words that follow a colon. */
export interface RequestFlaw {
  /** `body/items/0/price`, `query limit`, `header X-Trace`. */
  readonly at: string
  readonly reason: string
}

/**
 * Tells what is wrong with a value: nothing when it fits its schema, only the first flaw until the details of its `LazyCode` are compiled.
 * `at` is the RFC 6901 pointer within the value.
 * @throws Fault `patterns_over_budget` when it takes more work than the account of the request has left
 */
export type ValueCheck = (value: unknown, account: PatternWork) => readonly RequestFlaw[]

/**
 * Fills in the defaults of members that a value leaves out, or has as `null`: a new value, or the same one where it lacks none.
 * @throws Fault `patterns_over_budget`
 */
export type FillDefaults = (value: unknown, account: PatternWork) => unknown

/**
 * The code of schemas, which is compiled when a request first needs it: that takes up to a second for all of a definition, and most of it is
 * never asked for. `details`: also what finds all the flaws of a value that does not fit.
 */
export interface LazyCode {
  isReady(details: boolean): boolean
  /** Compiles it, in parts of some milliseconds. Code that is run before is compiled in one go. */
  compile(details: boolean): Generator<void>
}

/** Kinds of values that are spelled as one text. */
export type ScalarKind = 'integer' | 'number' | 'boolean' | 'null' | 'text'

/** The kinds of values that a schema takes, by which a text becomes what the schema speaks of. */
export interface ValueShape {
  /** In the order in which they are tried. */
  readonly scalars: readonly ScalarKind[]
  /** Present when it takes lists. */
  readonly items: ValueShape | undefined
  /** Present when it takes objects. */
  readonly members: ReadonlyMap<string, ValueShape> | undefined
  /** Of members without a name of their own, where the schema says what they are. */
  readonly rest: ValueShape | undefined
}

/** The styles in which a parameter is spelled (OpenAPI 3.1 section 4.8.12.3), JSON, or one that is not read: only whether it is there counts. */
export const STYLES = ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const
export type ParameterStyle = (typeof STYLES)[number] | 'json' | 'unread'

/** One parameter that the description names. */
export interface ParameterCheck {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly name: string
  readonly required: boolean
  readonly style: ParameterStyle
  /** True when each item or member is spelled by itself. */
  readonly explode: boolean
  /** True when an empty value is one. */
  readonly allowEmpty: boolean
  readonly shape: ValueShape
  /** Names of other parameters: all others are members of an object whose members are parameters of their own. */
  readonly others: ReadonlySet<string>
  readonly check: ValueCheck
  /** The default that is filled in where the request leaves it out. */
  readonly fill: ParameterDefault | undefined
}

/** The default of a parameter, and its text: pairs of a query, a field value, or a cookie with its name. */
export interface ParameterDefault {
  readonly value: Json
  readonly text: string
}

/** The schemas of a request. */
export interface RequestCheck {
  /** Status of the refusal. */
  readonly status: number
  /** Template of the path, from which the values of path parameters are read. */
  readonly path: string
  readonly parameters: readonly ParameterCheck[]
  readonly body: BodyCheck | undefined
  /** Of all its schemas. */
  readonly code: LazyCode
}

/** The check of a body of one media type or range. */
export interface BodyTypeCheck {
  readonly check: ValueCheck
  /** Of a body that is a text or a form. */
  readonly shape: ValueShape
  /** Fields of a form by name, where the description says how they are spelled; all others are given once, or once for each item. */
  readonly encodings: ReadonlyMap<string, FieldEncoding>
  /** Fields of a form whose spelling is not read: they are not checked, all others are. */
  readonly unread: ReadonlySet<string>
  /** Of a JSON body: undefined where no default is filled in. */
  readonly fill: FillDefaults | undefined
}

/** How a field of a form is spelled: in a style of parameters in queries, or as JSON. */
export interface FieldEncoding {
  readonly style: ParameterStyle
  readonly explode: boolean
}

export interface BodyCheck {
  readonly required: boolean
  /**
   * By media type or range (`application/*`), lower case; undefined where any body of that type will do.
   * undefined = every body is JSON, with any Content-Type.
   */
  readonly types: ReadonlyMap<string, BodyTypeCheck | undefined> | undefined
  /** Where `types` is undefined. */
  readonly json: ValueCheck | undefined
}

/** How a body is rewritten. */
export interface BodyRule {
  readonly template: BodyTemplate
  /** The body as it comes. */
  readonly input: 'json' | 'xml'
  /** True = the template may name the session's metadata. */
  readonly session: boolean
}

/** Where a trigger of a rewrite looks. */
export type TriggerSource = 'header' | 'query' | 'path' | 'body' | 'session' | 'context'

export interface TriggerRule {
  readonly in: TriggerSource
  /** Of the header, parameter or member of the metadata; for a path and a body a name to refer to what was found. */
  readonly name: string
  readonly pattern: string
  /** True = it must not be found. */
  readonly negate: boolean
}

export interface Trigger {
  readonly all: boolean
  readonly rules: readonly TriggerRule[]
  readonly rewriteTo: string
}

/** How path and query are rewritten. */
export interface RewriteRule {
  /** Searched in path and query, below the listen path; what does not hold it is left alone. */
  readonly pattern: string
  /** A path, or an absolute address of `http`, `https` or `svc`; `$1` is what the first group of the pattern took. */
  readonly rewriteTo: string
  /** The first that holds says where to instead. */
  readonly triggers: readonly Trigger[]
}
