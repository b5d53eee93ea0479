import { Fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { compileExpression } from '../../patterns/pattern.ts'
import { compileRewritePattern, readRewriteTarget } from '../../patterns/rewrite-target.ts'
import type { PausedWork } from '../../threads/paused-work.ts'
import { OPERATION_TWINS, operationsOf } from '../convert/convert-operations.ts'
import { copyPairs } from '../convert/convert-pairs.ts'
import { EXTENSION, flagOf, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import { answerHeaderFault } from '../read/read-mock.ts'
import { bodyTransformFlaws, readRewrite, usesExtendedPaths } from '../read/read-rules.ts'
import { breakerFlaws } from './check-upstream.ts'

/** The errors of an entry of a list of `extended_paths`; paths start at the entry. */
type EntryCheck = (entry: JsonObject) => Flaw[]

const MAX_TRIGGERS = 100
/** Methods that no request is turned into: they are not for origins (RFC 9110 sections 9.3.6 and 9.3.8, RFC 9113 section 3.4). */
const NO_TARGET_METHODS = new Set(['CONNECT', 'PRI', 'TRACE'])

const CHECKS: Readonly<Record<string, EntryCheck>> = {
  mock_response: (entry) => [
    ...answerFlaws(entry),
    ...statusFlaws(objectOf(entry, 'from_oas_examples'), 'code', 200).map(under('from_oas_examples')),
  ],
  white_list: replyFlaws,
  ignored: replyFlaws,
  validate_request: (entry) => statusFlaws(entry, 'error_response_code', 400),
  validate_json: (entry) => statusFlaws(entry, 'error_response_code', 400),
  url_rewrites: rewriteFlaws,
  transform: bodyTransformFlaws,
  transform_response: bodyTransformFlaws,
  advance_cache_config: cacheFlaws,
  circuit_breakers: breakerFlaws,
  method_transforms: (entry) => {
    const method = textOf(entry, 'to_method').toUpperCase()
    if (method !== '' && !NO_TARGET_METHODS.has(method)) return []
    return [{ at: ['to_method'], reason: 'must be a method that an upstream can be asked with' }]
  },
}

/** The errors of the operation settings of a classic definition, some entries in each part. */
export function* classicOperationFlaws(classic: JsonObject): PausedWork<Flaw[]> {
  const flaws: Flaw[] = []
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  for (const name of Object.keys(versions)) {
    const version = objectOf(versions, name)
    if (!usesExtendedPaths(version)) continue
    const lists = objectOf(version, 'extended_paths')
    for (const [list, check] of Object.entries(CHECKS)) {
      for (const [index, entry] of objectsOf(lists, list).entries()) {
        if (flagOf(entry, 'disabled')) continue
        const at = ['version_data', 'versions', name, 'extended_paths', list, String(index)]
        for (const flaw of check(entry)) flaws.push({ ...flaw, at: [...at, ...flaw.at] })
        yield
      }
    }
  }
  return flaws
}

/** The same for the sections of an extension, with its names. */
export function* oasOperationFlaws(document: JsonObject, extension: JsonObject): PausedWork<Flaw[]> {
  const flaws: Flaw[] = []
  const operations = objectOf(objectOf(extension, 'middleware'), 'operations')
  for (const { id, method } of operationsOf(document)) {
    const sections = id === '' ? undefined : member(operations, id)
    for (const { list, section, pairs } of OPERATION_TWINS) {
      const check = CHECKS[list]
      const held = member(sections, section)
      if (check === undefined || held === undefined || !isObject(held) || !flagOf(held, 'enabled')) continue
      const entry: JsonObject = { method }
      copyPairs(pairs, held, entry, 'toClassic')
      const at = [EXTENSION, 'middleware', 'operations', id, section]
      for (const flaw of check(entry)) flaws.push({ ...flaw, at: [...at, ...inExtension(flaw.at, pairs)] })
      yield
    }
  }
  return flaws
}

function inExtension(at: TreePath, pairs: (typeof OPERATION_TWINS)[number]['pairs']): TreePath {
  const pair = pairs.find(({ classic }) => classic.every((name, index) => at[index] === name))
  return pair === undefined ? at : [...pair.oas, ...at.slice(pair.classic.length)]
}

function under(...before: string[]): (flaw: Flaw) => Flaw {
  return (flaw) => ({ ...flaw, at: [...before, ...flaw.at] })
}

function statusFlaws(holder: JsonObject, name: string, least: number): Flaw[] {
  const status = numberOf(holder, name)
  if (status === 0 || status >= least) return []
  return [{ at: [name], reason: `must be a status from ${least} to 599` }]
}

function answerFlaws(holder: JsonObject): Flaw[] {
  const headers = objectOf(holder, 'headers')
  const flaws = statusFlaws(holder, 'code', 200)
  for (const name of Object.keys(headers)) {
    const reason = answerHeaderFault(name, `${headers[name] ?? ''}`)
    if (reason !== undefined) flaws.push({ at: ['headers', name], reason })
  }
  return flaws
}

function replyFlaws(entry: JsonObject): Flaw[] {
  const actions = objectOf(entry, 'method_actions')
  return Object.keys(actions).flatMap((method) => {
    const action = objectOf(actions, method)
    return textOf(action, 'action') === 'reply' ? answerFlaws(action).map(under('method_actions', method)) : []
  })
}

function cacheFlaws(entry: JsonObject): Flaw[] {
  const flaws: Flaw[] = []
  if (textOf(entry, 'cache_key_regex') !== '')
    flaws.push({
      at: ['cache_key_regex'],
      reason: 'is not served: requests with a body are never answered from the cache',
    })
  const method = textOf(entry, 'method').toUpperCase()
  if (!['', 'GET', 'HEAD'].includes(method))
    flaws.push({ at: ['method'], reason: 'must be GET or HEAD: answers to other methods are not stored' })
  return flaws
}

function rewriteFlaws(entry: JsonObject): Flaw[] {
  const { pattern, rewriteTo, triggers } = readRewrite(entry)
  const flaws: Flaw[] = []
  const report = (at: TreePath, reason: string | undefined) => {
    if (reason !== undefined) flaws.push({ at, reason })
  }
  report(['match_pattern'], patternFault(pattern, compileRewritePattern))
  if (rewriteTo !== '' || triggers.length === 0) report(['rewrite_to'], targetFault(rewriteTo))
  if (triggers.length > MAX_TRIGGERS) report(['triggers'], `must not hold more than ${MAX_TRIGGERS} entries`)
  triggers.slice(0, MAX_TRIGGERS).forEach((trigger, index) => {
    const at = ['triggers', String(index)]
    report(at, targetFault(trigger.rewriteTo))
    if (trigger.rules.length === 0) report(at, 'must look at something')
    for (const rule of trigger.rules) {
      const reason = patternFault(rule.pattern)
      report(at, reason === undefined ? undefined : `looks at ${rule.in} ${rule.name} with a pattern that ${reason}`)
    }
  })
  return flaws
}

function patternFault(pattern: string, compile = compileExpression): string | undefined {
  if (pattern === '') return 'is missing'
  try {
    compile(pattern)
    return undefined
  } catch (error) {
    return `is no expression that is safe to run: ${error instanceof Fault ? error.message : 'it does not compile'}`
  }
}

function targetFault(text: string): string | undefined {
  if (text === '') return 'must say where to'
  const target = readRewriteTarget(text)
  return typeof target === 'string' ? `leads to a target that ${target}` : undefined
}
