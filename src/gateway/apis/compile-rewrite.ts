import { fault } from '../../errors/fault.ts'
import type { RewriteRule, Trigger } from '../../model/apis/definition/operation.ts'
import { Matcher } from '../../model/patterns/matcher.ts'
import { normalisedExpression } from '../../model/patterns/pattern.ts'
import { normalisedRewrite } from '../../model/patterns/rewrite-pattern.ts'
import { readRewriteTarget } from '../../model/patterns/rewrite-target.ts'
import type { CompiledRewrite, CompiledTarget, CompiledTrigger } from '../server/exchange.ts'
import type { Targets } from '../upstream/target.ts'

/**
 * Prepares a rewrite; `openOrigin` opens an origin that it names.
 * @throws Fault `definition_invalid` for a target that is none, `pattern_invalid`: neither gets past the checks of a save
 */
export function compileRewrite(rule: RewriteRule, openOrigin: (url: string) => Targets): CompiledRewrite {
  const target = (text: string): CompiledTarget => {
    const read = readRewriteTarget(text)
    if (typeof read === 'string') throw fault('definition_invalid', `the target of a rewrite ${read}`)
    const { origin, api, pieces } = read
    return { pieces, targets: origin === '' ? undefined : openOrigin(origin), api }
  }
  const trigger = ({ all, rules, rewriteTo }: Trigger): CompiledTrigger => ({
    all,
    rules: rules.map(({ pattern, ...each }) => ({ ...each, matcher: new Matcher(normalisedExpression(pattern)) })),
    target: target(rewriteTo),
  })
  return {
    matcher: new Matcher(normalisedRewrite(rule.pattern)),
    target: rule.rewriteTo === '' ? undefined : target(rule.rewriteTo),
    triggers: rule.triggers.map(trigger),
    readsBody: rule.triggers.some(({ rules }) => rules.some((each) => each.in === 'body')),
  }
}
