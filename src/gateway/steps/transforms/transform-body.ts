import { fault, prebuilt } from '../../../errors/fault.ts'
import type { BodyRule } from '../../../model/apis/definition/operation.ts'
import { MAX_RENDERED } from '../../../model/body-templates/render.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { type TransformFaults, templateInput, transformed } from '../../server/template-values.ts'

const ENCODED = prebuilt('transform_body_malformed', 'must not be encoded (Content-Encoding)')
const FAULTS: TransformFaults = {
  malformed: 'transform_body_malformed',
  tooLarge: 'transform_too_large',
  failed: 'transform_failed',
}

/** Fields that speak of the body as it came. */
const OF_THE_BODY = ['content-digest', 'content-md5', 'digest', 'repr-digest']

/** Rewrites the body of a request where its operation has a template. */
export function transformBody(rules: readonly (BodyRule | undefined)[]): Step | undefined {
  if (rules.every((rule) => rule === undefined)) return undefined
  return function transformBody(x) {
    const rule = x.operation?.requestBody
    // An explained request has no body.
    return rule === undefined || x.dry ? undefined : transform(x, rule)
  }
}

async function transform(x: Exchange, rule: BodyRule): Promise<StepOutcome> {
  if (!/^(?:identity)?$/i.test(x.request.get('content-encoding') ?? '')) return ENCODED
  const bytes = await x.readBody(Math.min(x.bodyLimitBytes || MAX_RENDERED, MAX_RENDERED))
  const input = templateInput(bytes)
  if ('reason' in input) return fault(FAULTS.malformed, input.reason)
  const made = transformed(x, rule, input.value, FAULTS)
  if (made instanceof Error) return made
  putBody(x, made)
  return undefined
}

/** Replaces the body of the request; its length and digests are removed. */
export function putBody(x: Exchange, body: Buffer): void {
  for (const name of OF_THE_BODY) x.request.drop(name)
  x.body = body
}
