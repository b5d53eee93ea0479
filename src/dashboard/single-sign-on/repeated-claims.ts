import { fault } from '../../errors/fault.ts'
import { isObject, type Json } from '../../model/json/json.ts'
import { repeatsMember } from '../../model/json/repeated-member.ts'

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Refuses an answer of an identity provider that names a member of some object twice, as do the ID token in it and user info that is a JWT: of two
 * claims one reader takes the first and another the last (RFC 7519 section 4). @throws Fault `sso_failed` (403)
 */
export async function refuseRepeatedClaims(response: Response): Promise<Response> {
  const text = (await response.clone().text()).trim()
  const answer = JWT.test(text) ? text : parsed(text)
  const token = typeof answer === 'object' && isObject(answer) ? answer.id_token : answer
  const names = typeof answer === 'object' && repeatsMember(text, answer)
  if (names || (typeof token === 'string' && tokenRepeats(token)))
    throw fault('sso_failed', 'the identity provider names a member twice in one document')
  return response
}

function tokenRepeats(token: string): boolean {
  return token
    .split('.', 2)
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'))
    .some((text) => {
      const value = parsed(text)
      return value !== undefined && repeatsMember(text, value)
    })
}

/** undefined for what is no JSON, which the reader of the answer judges. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
