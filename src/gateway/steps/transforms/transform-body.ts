import { fault } from '../../../errors/fault.ts'
import type { BodyRule } from '../../../model/apis/definition/operation.ts'
import { MAX_RENDERED } from '../../../model/body-templates/render.ts'
import { readDecoded } from '../../compression/decode.ts'
import type { Exchange, Step, StepOutcome } from '../../server/exchange.ts'
import { type TransformFaults, templateInput, transformed } from '../../server/template-values.ts'
import { putBody } from './put-body.ts'

const FAULTS: TransformFaults = {
  malformed: 'transform_body_malformed',
  tooLarge: 'transform_too_large',
  failed: 'transform_failed',
}

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
  const body = await readDecoded(x, Math.min(x.bodyLimitBytes || MAX_RENDERED, MAX_RENDERED))
  const input = 'reason' in body ? body : templateInput(body.bytes, rule)
  if ('reason' in input) return fault(FAULTS.malformed, input.reason)
  const made = transformed(x, rule, input.value, FAULTS)
  if (made instanceof Error) return made
  putBody(x, made)
  return undefined
}
