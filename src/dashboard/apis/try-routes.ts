import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { summaryOf } from '../../model/apis/definition/fill-ids.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { checkTrial, type Trial, type TrialRequest } from '../../model/apis/definition/trial.ts'
import { EXPLAINED_STEP, EXPLANATION } from '../../model/apis/schema/explanation-shape.ts'
import type { Json } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiOf, notReadable } from './store-api.ts'

const Field = Type.Object(
  {
    name: Type.String({ description: 'Name of the header field.' }),
    value: Type.String({ description: 'Value of the header field.' }),
  },
  { title: 'HeaderField' },
)

const Body = Type.Object(
  {
    method: Type.String({ description: 'Method of the request.' }),
    path: Type.String({ description: 'Path and query as a caller sends them, the listen path included.' }),
    headers: Type.Optional(Type.Array(Field, { description: 'Header fields of the request, in order.' })),
    body: Type.Optional(Type.String({ description: 'Body of the request, as text. Absent: none.' })),
  },
  { title: 'ApiTrial' },
)

const Tried = Type.Object(
  {
    steps: Type.Array(Type.Object({ step: Type.String(), outcome: Type.String() }, describedAs(EXPLAINED_STEP)), {
      description: 'The steps of the gateway, as its explain call names them.',
    }),
    explained: Type.Object({}, describedAs(EXPLANATION)),
    answer: Type.Union(
      [
        Type.Null(),
        Type.Object({
          status: Type.Integer({ description: 'Status code of the response.' }),
          headers: Type.Array(Field, { description: 'Header fields of the response, in order.' }),
          body: Type.String({ description: 'Body of the response, in the form that `body_encoding` names.' }),
          body_encoding: Type.Enum(['utf-8', 'base64'], {
            description: '`utf-8`: as text. `base64`: a body that is no text.',
          }),
          body_cut: Type.Boolean({ description: 'True when there was more of it.' }),
        }),
      ],
      { description: 'The response that a caller would have got; null where `trouble` says why there is none.' },
    ),
    trouble: Type.String({ description: 'Why there is no answer.' }),
    duration_ms: Type.Number({ description: 'Time from request to response, in milliseconds.' }),
  },
  { title: 'ApiTrialResult' },
)

/** `/api/apis/{id}/try`: sends a request to an API through the gateway of this process, and to nothing else. */
export function tryRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/apis/{id}/try',
      access: { permission: 'apis', intent: 'write' },
      owned: { noun: 'api', by: 'id' },
      summary: 'Send a test request to an API and list the gateway steps that it passed',
      body: Body,
      undumped: true,
      answers: { 200: Tried },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        if (stored === undefined) return notReadable()
        const { api_id: apiId, domain } = summaryOf(documentOf(stored.body))
        const trial = trialOf(call, apiId, domain)
        checkTrial(trial)
        if (parts.tryRequest === undefined) throw fault('gateway_away')
        return bare(shown(await parts.tryRequest(trial)))
      },
    },
  ]
}

function trialOf(call: Call, apiId: string, host: string): TrialRequest {
  const {
    method,
    path,
    headers = [],
    body = '',
  } = call.object() as unknown as {
    readonly method: string
    readonly path: string
    readonly headers?: readonly { readonly name: string; readonly value: string }[]
    readonly body?: string
  }
  return { apiId, host, method, target: path, headers: headers.map(({ name, value }) => [name, value]), body }
}

function shown({ explained, answer, trouble, durationMs }: Trial): Json {
  return {
    steps: explained.steps ?? [],
    explained,
    answer:
      answer === undefined
        ? null
        : {
            status: answer.status,
            headers: answer.headers.map(([name, value]) => ({ name, value })),
            body: answer.body,
            body_encoding: answer.isBase64 ? 'base64' : 'utf-8',
            body_cut: answer.isCut,
          },
    trouble,
    duration_ms: durationMs,
  }
}
