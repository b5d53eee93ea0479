import { amount, arrayOf, closedObjectOf, oneOf, openObjectOf, text, whole } from '../../openapi/plain-schemas.ts'

/** One of the steps that a request passes. */
export const EXPLAINED_STEP = closedObjectOf(
  'ExplainedStep',
  { step: text, outcome: oneOf('passed', 'answered', 'refused', 'forwarded', 'led on') },
  { detail: text, reason: text, code: text, status: whole },
)

/** How a request would be handled, step by step: the answer of the explain call, and a part of that of a trial. */
export const EXPLANATION = closedObjectOf(
  'Explanation',
  {
    api: {
      anyOf: [
        closedObjectOf('ExplainedApi', { api_id: text, name: text, org_id: text, listen_path: text, version: text }),
        { type: 'null' },
      ],
    },
    steps: arrayOf(EXPLAINED_STEP),
    result: closedObjectOf(
      'ExplainedResult',
      { outcome: oneOf('answered', 'refused', 'forwarded') },
      { status: whole, body: openObjectOf('ExplainedBody', {}), method: text, path: text, targets: arrayOf(text) },
    ),
  },
  {
    key: { anyOf: [closedObjectOf('ExplainedKey', { key_hash: text, alias: text }), { type: 'null' }] },
    client: closedObjectOf('ExplainedClient', { client_id: text, scope: text }),
    policies: arrayOf(text),
    limits: arrayOf(
      closedObjectOf('ExplainedLimit', {
        kind: text,
        counter: text,
        max: amount,
        window_ms: amount,
        remaining: amount,
        reset_ms: amount,
      }),
    ),
  },
)
