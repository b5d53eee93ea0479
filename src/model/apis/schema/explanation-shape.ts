import {
  amount,
  arrayOf,
  closedObjectOf,
  oneOf,
  openObjectOf,
  said,
  text,
  whole,
} from '../../openapi/component-schemas.ts'

/** One of the steps that a request passes. */
export const EXPLAINED_STEP = closedObjectOf(
  'ExplainedStep',
  {
    step: said(text, 'Name of the step.'),
    outcome: said(
      oneOf('passed', 'answered', 'refused', 'forwarded', 'led on'),
      'What came of the step. `led on`: another API continues with the request.',
    ),
  },
  {
    detail: said(text, 'What the step has found.'),
    reason: said(text, 'Why the step refused the request.'),
    code: said(text, 'Code of the refusal, as in the reference of errors.'),
    status: said(whole, 'Status code of an answer of the step.'),
  },
)

/** How a request would be handled, step by step: the answer of the explain call, and a part of that of a trial. */
export const EXPLANATION = said(
  closedObjectOf(
    'Explanation',
    {
      api: said(
        {
          anyOf: [
            closedObjectOf('ExplainedApi', {
              api_id: said(text, 'Id of the API.'),
              name: said(text, 'Name of the API.'),
              org_id: said(text, 'Id of the organisation.'),
              listen_path: said(text, 'Path under which the gateway serves the API.'),
              version: said(text, 'Name of the version of the API.'),
            }),
            { type: 'null' },
          ],
        },
        'The API that would serve the request; null where none does.',
      ),
      steps: said(arrayOf(EXPLAINED_STEP), 'Steps that the request would pass, in order. The last one ends it.'),
      result: said(
        closedObjectOf(
          'ExplainedResult',
          {
            outcome: said(
              oneOf('answered', 'refused', 'forwarded'),
              'What the caller would get: an answer of the gateway, a refusal, or the response of the upstream.',
            ),
          },
          {
            status: said(whole, 'Status code of an answer or refusal.'),
            body: said(openObjectOf('ExplainedBody', {}), 'Body of a refusal.'),
            method: said(text, 'Method towards the upstream.'),
            path: said(text, 'Path and query towards the upstream.'),
            targets: said(arrayOf(text), 'Upstream targets that could be asked.'),
          },
        ),
        'What would come of the request.',
      ),
    },
    {
      key: said(
        {
          anyOf: [
            closedObjectOf('ExplainedKey', {
              key_hash: said(text, 'Hash of the key or token.'),
              alias: said(text, 'Alias of the key.'),
            }),
            { type: 'null' },
          ],
        },
        'The key or token of the request; null where it has none.',
      ),
      client: said(
        closedObjectOf('ExplainedClient', {
          client_id: said(text, 'Client id.'),
          scope: said(text, 'Scopes of the token, with spaces.'),
        }),
        'OAuth client of a token.',
      ),
      policies: said(arrayOf(text), 'Ids of the policies of the key.'),
      limits: said(
        arrayOf(
          closedObjectOf('ExplainedLimit', {
            kind: said(text, '`rate` or `quota`.'),
            counter: said(text, 'Name of the counter: what the limit counts for.'),
            max: said(amount, 'Requests in a window.'),
            window_ms: said(amount, 'Length of the window in milliseconds.'),
            remaining: said(amount, 'Requests that are left in the window.'),
            reset_ms: said(amount, 'Milliseconds until the window has room again.'),
          }),
        ),
        'Limits that the request would take from, in the order of the checks. Nothing is taken.',
      ),
    },
  ),
  'How the gateway handles the request, step by step.',
)
