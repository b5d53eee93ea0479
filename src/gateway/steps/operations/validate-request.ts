import { prebuilt } from '../../../errors/fault.ts'
import { MAX_REPORTED } from '../../../model/apis/check/value-schema.ts'
import type {
  BodyCheck,
  BodyTypeCheck,
  LazyCode,
  ParameterCheck,
  RequestCheck,
  RequestFlaw,
} from '../../../model/apis/definition/operation.ts'
import { bareMediaType, mediaTypeKey } from '../../../model/network/media-type.ts'
import { otherReadings, readablePath } from '../../../model/patterns/readable-path.ts'
import { WorkSlice } from '../../../runtime/turns.ts'
import { readDecoded } from '../../compression/decode.ts'
import { PathPattern } from '../../routing/path-pattern.ts'
import type { Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import { putBody } from '../transforms/put-body.ts'
import { bodyValues } from './body-values.ts'
import { addDefaults, textWith } from './fill-defaults.ts'
import { spelledParameter } from './spelled-parameter.ts'

const INVALID = prebuilt('request_invalid')

/** Largest body that is read to be checked; larger ones are refused (413). */
const MAX_CHECKED_BYTES = 1_048_576

/**
 * Refuses requests that do not fit the description of their operation, and tells where; fills in defaults where the operation says so.
 * `isHidden`: no request shows a field of this lower-case name, so that none is asked for.
 */
export function validateRequest(
  checks: readonly (readonly RequestCheck[])[],
  isHidden: (name: string) => boolean,
): Step | undefined {
  const all = checks.flat()
  if (all.length === 0) return undefined
  const unasked = new Set(
    all.flatMap(({ parameters }) => parameters.filter(({ in: place, name }) => place === 'header' && isHidden(name))),
  )
  const paths = new Map(all.map((check) => [check, [false, true].map((fold) => new PathPattern(check.path, fold))]))

  const flawsOf = (x: Exchange, check: RequestCheck): RequestFlaw[] => {
    if (check.parameters.length === 0) return []
    for (const values of valuesOf(paths.get(check)!, readablePath(x.rest))) {
      const flaws = check.parameters.flatMap((parameter) => parameterFlaws(x, parameter, values, unasked))
      if (flaws.length > 0) return flaws
    }
    return []
  }

  const validate = (x: Exchange, own: readonly RequestCheck[]) => {
    for (const check of own) {
      const spent = x.patternWork
      const flaws = flawsOf(x, check)
      if (flaws.length === 0) continue
      if (check.code.isReady(true)) return refusal(x, check, flaws)
      return compiled([check], true).then(() => {
        x.patternWork = spent
        return refusal(x, check, flawsOf(x, check))
      })
    }
    addDefaults(x, own)
    // An explained request has no body.
    if (x.dry || own.every(({ body }) => body === undefined)) return undefined
    return validateBodies(x, own)
  }

  return function validateRequest(x) {
    const own = x.operation?.checks
    if (own === undefined || own.length === 0) return undefined
    if (own.every(({ code }) => code.isReady(false))) return validate(x, own)
    return compiled(own, false).then(() => validate(x, own))
  }
}

/** Module state: what is compiled at present, so that requests that come meanwhile wait for it together. */
const compiling = new WeakMap<LazyCode, Promise<void>>()

/** Compiles the schemas of checks in turns of the event loop. With `details`, also what finds all the flaws of a value. */
async function compiled(checks: readonly RequestCheck[], details: boolean): Promise<void> {
  for (const { code } of checks) {
    while (!code.isReady(details)) {
      if (!compiling.has(code))
        compiling.set(
          code,
          compileInTurns(code, details).finally(() => compiling.delete(code)),
        )
      await compiling.get(code)
    }
  }
}

async function compileInTurns(code: LazyCode, details: boolean): Promise<void> {
  const slice = new WorkSlice()
  for (const _part of code.compile(details)) if (slice.isOver) await slice.next()
}

async function validateBodies(x: Exchange, checks: readonly RequestCheck[]): Promise<StepOutcome> {
  for (const check of checks) {
    if (check.body === undefined) continue
    const flaws = await bodyFlaws(x, check.body, check)
    if (flaws.length > 0) return refusal(x, check, flaws)
  }
  return undefined
}

/** The definition says with which status, so this is an answer and no fault, though it is noted as one. */
function refusal(x: Exchange, { status }: RequestCheck, flaws: readonly RequestFlaw[]): Reply {
  x.fault = INVALID
  const body = JSON.stringify({ error: INVALID.message, faults: flaws.slice(0, MAX_REPORTED) })
  return { status, fields: 'Content-Type: application/json\r\n', body }
}

async function bodyFlaws(x: Exchange, rule: BodyCheck, owner: RequestCheck): Promise<readonly RequestFlaw[]> {
  const flaw = (reason: string) => [{ at: 'body', reason }]
  if (x.body === undefined && x.bodyLength === 0) return rule.required ? flaw('is missing') : []
  const check =
    rule.types === undefined
      ? rule.json && { shape: NO_SHAPE, check: rule.json, encodings: NO_ENCODINGS, unread: NO_FIELDS, fill: undefined }
      : checkOfType(x, rule.types)
  if (check === 'refused') {
    return [{ at: 'header content-type', reason: `must be ${[...rule.types!.keys()].join(' or ')}` }]
  }
  if (check === undefined) return []
  const body = await readDecoded(x, Math.min(x.bodyLimitBytes || MAX_CHECKED_BYTES, MAX_CHECKED_BYTES))
  if ('reason' in body) return flaw(body.reason)
  const { bytes } = body
  if (bytes.length === 0) return rule.required ? flaw('is missing') : []
  const type = rule.types === undefined ? 'application/json' : x.request.get('content-type')!
  const read = await bodyValues(bytes, type, check)
  if (read === 'unread') return []
  if ('reason' in read) return flaw(read.reason)
  const { fill } = check
  const [sent] = read.values
  const isFilled = fill !== undefined && 'json' in read
  const value = isFilled ? fill(sent, x) : sent
  const values = isFilled ? [value] : read.values
  const spent = x.patternWork
  let flaws = flawsOfAll(values, (each) => check.check(each, x))
  if (flaws.length > 0 && !owner.code.isReady(true)) {
    await compiled([owner], true)
    // The second look is ours: the request is charged for one.
    x.patternWork = spent
    flaws = flawsOfAll(values, (each) => check.check(each, x))
  }
  if (check.unread.size > 0) flaws = flaws.filter(({ at }) => !check.unread.has(firstName(at)))
  if (value !== sent && flaws.length === 0) putBody(x, Buffer.from(textWith(bytes, sent, value)))
  return flaws.map(({ at, reason: why }) => ({ at: `body${at}`, reason: why }))
}

/** The flaws of the first of several values that a text can mean; none when one of them fits. */
function flawsOfAll(
  values: readonly unknown[],
  check: (value: unknown) => readonly RequestFlaw[],
): readonly RequestFlaw[] {
  let first: readonly RequestFlaw[] | undefined
  for (const value of values) {
    const flaws = check(value)
    if (flaws.length === 0) return flaws
    first ??= flaws
  }
  return first ?? []
}

const NO_SHAPE: BodyTypeCheck['shape'] = { scalars: ['text'], items: undefined, members: undefined, rest: undefined }
const NO_ENCODINGS: BodyTypeCheck['encodings'] = new Map()
const NO_FIELDS: BodyTypeCheck['unread'] = new Set()

/** The first name of a pointer (RFC 6901). */
function firstName(pointer: string): string {
  return (pointer.split('/', 2)[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The check of a body of the request's type; `refused` where the description has no such type. */
function checkOfType(x: Exchange, types: NonNullable<BodyCheck['types']>): BodyTypeCheck | undefined | 'refused' {
  // The second of two such fields might be the one that the upstream heeds.
  const sent = x.request.all('content-type')
  const type = sent.length === 1 ? bareMediaType(sent[0]!) : ''
  const [slash, plus] = [type.indexOf('/'), type.lastIndexOf('+')]
  for (const range of [
    sent.length === 1 ? mediaTypeKey(sent[0]!) : '',
    type,
    plus > slash ? `${type.slice(0, slash)}/*${type.slice(plus)}` : '',
    `${type.slice(0, slash)}/*`,
    '*/*',
  ]) {
    if (type !== '' && types.has(range)) return types.get(range)
  }
  return 'refused'
}

function parameterFlaws(
  x: Exchange,
  parameter: ParameterCheck,
  pathValues: ReadonlyMap<string, string>,
  unasked: ReadonlySet<ParameterCheck>,
): readonly RequestFlaw[] {
  const where = `${parameter.in} ${parameter.name}`
  const named = (flaws: readonly RequestFlaw[]) =>
    flaws.map(({ at, reason: why }) => ({ at: `${where}${at}`, reason: why }))
  const sent = spelledParameter(x, parameter, pathValues)
  if (sent === undefined) {
    if (parameter.required && !unasked.has(parameter)) return [{ at: where, reason: 'is missing' }]
    return parameter.fill === undefined ? [] : named(parameter.check(parameter.fill.value, x))
  }
  if ('reason' in sent) return [{ at: where, reason: sent.reason }]
  return named(flawsOfAll(sent.values, (value) => parameter.check(value, x)))
}

/** Of all that the path may be for its upstream: each must pass. A pattern that heeds letter case goes before one that does not. */
function valuesOf(patterns: readonly PathPattern[], path: string): ReadonlyMap<string, string>[] {
  const values = [path, ...otherReadings(path)].flatMap((reading) => {
    const fitting = patterns.find((pattern) => pattern.matches(reading))
    return fitting === undefined ? [] : [fitting.values(reading)]
  })
  return values.length > 0 ? values : [patterns.at(-1)!.values(path)]
}
