import type { Exchange } from '../../server/exchange.ts'

/** Fields that speak of the body as it came. */
const OF_THE_BODY = ['content-digest', 'content-md5', 'digest', 'repr-digest']

/** Replaces the body of the request; its length and digests are removed. */
export function putBody(x: Exchange, body: Buffer): void {
  for (const name of OF_THE_BODY) x.request.drop(name)
  x.body = body
}
