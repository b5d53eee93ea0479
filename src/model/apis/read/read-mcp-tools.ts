import type { JsonObject } from '../../json/json.ts'
import type { McpToolRules } from '../definition/api.ts'
import { flagOf, objectOf } from '../definition/members.ts'

/** The rules of `mcp_tools`, a map by name of the tool; undefined where no tool is allowed or blocked. */
export function readMcpTools(classic: JsonObject): McpToolRules | undefined {
  const tools = objectOf(classic, 'mcp_tools')
  const namesWith = (rule: 'allow' | 'block') =>
    Object.keys(tools).filter((name) => flagOf(objectOf(objectOf(tools, name), rule), 'enabled'))
  const allow = namesWith('allow')
  const block = namesWith('block')
  if (allow.length === 0) return block.length === 0 ? undefined : { block }
  return { allow, block }
}
