import type { JsonObject } from '../../json/json.ts'
import type { McpToolRules } from '../definition/api.ts'
import { flagOf, numberOf, objectOf, textOf } from '../definition/members.ts'
import { durationMs } from '../definition/values.ts'
import { readRate } from './read-rules.ts'

/** The rules of `mcp_tools`, a map by name of the tool; undefined where no tool has any. */
export function readMcpTools(classic: JsonObject): McpToolRules | undefined {
  const tools = objectOf(classic, 'mcp_tools')
  const namesWith = (rule: string) =>
    Object.keys(tools).filter((name) => flagOf(objectOf(objectOf(tools, name), rule), 'enabled'))
  const allow = namesWith('allow')
  const block = namesWith('block')
  const tracked = namesWith('trackEndpoint')
  const rates = namesWith('rateLimit').flatMap((tool) => {
    const limit = objectOf(objectOf(tools, tool), 'rateLimit')
    const per = (durationMs(textOf(limit, 'per')) ?? 0) / 1000
    const rate = readRate({ rate: numberOf(limit, 'rate'), per })
    return rate === undefined ? [] : [{ tool, ...rate }]
  })
  if (allow.length + block.length + rates.length + tracked.length === 0) return undefined
  return { ...(allow.length > 0 && { allow }), block, rates, tracked }
}
