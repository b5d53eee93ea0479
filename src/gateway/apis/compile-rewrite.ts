import { fault } from '../../errors/fault.ts'
import type { RewriteRule, Trigger } from '../../model/apis/definition/operation.ts'
import { Matcher } from '../../model/patterns/matcher.ts'
import { normalisedExpression, normalisedRewrite } from '../../model/patterns/pattern.ts'
import { readRewriteTarget } from '../../model/patterns/rewrite-target.ts'
import { markedExpression } from '../../model/patterns/sent-escapes.ts'
import type { CompiledRewrite, CompiledTarget, CompiledTrigger } from '../server/exchange.ts'
import type { Targets } from '../upstream/target.ts'

/** How many matches of a body a target names. */
function matchesAskedFor({ pieces }: CompiledTarget, name: string): number {
  const indexes = pieces.map((piece) => {
    const found = typeof piece !== 'string' && 'trigger' in piece ? piece.found : ''
    const rest = found.startsWith(`${name}-`) ? found.slice(name.length + 1) : ''
    // Of a rule that is called `payload-type` it is no index.
    return /^\d+$/.test(rest) ? Number(rest) : 0
  })
  return 1 + Math.max(0, ...indexes)
}

/**
 * Prepares a rewrite; `openOrigin` opens an origin that it names.
 * @throws Fault `definition_invalid` for a target that is none, `pattern_invalid`: neither gets past the checks of a save
 */
export function compileRewrite(rule: RewriteRule, openOrigin: (url: string) => Targets): CompiledRewrite {
  const target = (text: string): CompiledTarget => {
    const read = readRewriteTarget(text)
    if (typeof read === 'string') throw fault('definition_invalid', `the target of a rewrite ${read}`)
    const { origin, ...rest } = read
    return { ...rest, targets: origin === '' ? undefined : openOrigin(origin) }
  }
  const trigger = ({ all, rules, rewriteTo }: Trigger): CompiledTrigger => {
    const leadsTo = target(rewriteTo)
    const compiled = rules.map(({ pattern, ...each }) => ({
      ...each,
      matcher: new Matcher(normalisedExpression(pattern)),
      most: each.in === 'body' ? matchesAskedFor(leadsTo, each.name) : 1,
    }))
    return { all, rules: compiled, target: leadsTo }
  }
  const pattern = normalisedRewrite(rule.pattern)
  let marked: Matcher | undefined
  return {
    matcher: new Matcher(pattern),
    markedMatcher: () => {
      marked ??= new Matcher(markedExpression(pattern))
      return marked
    },
    target: rule.rewriteTo === '' ? undefined : target(rule.rewriteTo),
    triggers: rule.triggers.map(trigger),
    readsBody: rule.triggers.some(({ rules }) => rules.some((each) => each.in === 'body')),
  }
}
