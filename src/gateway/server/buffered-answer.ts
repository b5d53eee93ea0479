import { type Fault, fault, toFault } from '../../errors/fault.ts'
import { isBodiless } from '../../wire/http1/answer.ts'
import { codingOf, decode, TOO_LARGE } from '../compression/decode.ts'
import { filterWhole } from '../mcp/tool-list-filter.ts'
import type { AnswerView, FieldEdit, FieldPairs } from '../modules/messages.ts'
import type { ModuleSet } from '../modules/module-set.ts'
import { credentialNames, openFields, ownBytes, requestView, splitQuery } from '../modules/views.ts'
import { MAX_BUFFERED_BYTES } from '../steps/answers/buffer-answer.ts'
import { replyOf } from '../steps/transforms/run-modules.ts'
import { keepingCors } from './cors-fields.ts'
import { overridden, overrideOfAnswer } from './error-override.ts'
import type { Exchange, Reply } from './exchange.ts'
import { fieldLines, pairsOf } from './field-lines.ts'
import { addedFields, editAnswer } from './respond.ts'
import { type TransformFaults, templateInput, transformed } from './template-values.ts'

const FAULTS: TransformFaults = {
  malformed: 'answer_untransformable',
  tooLarge: 'answer_untransformable',
  failed: 'answer_untransformable',
}

/** Fields that speak of the very bytes of the upstream's body, and the one that the wire writes. */
const OF_THE_BYTES = [
  'accept-ranges',
  'content-digest',
  'content-encoding',
  'content-md5',
  'date',
  'digest',
  'etag',
  'repr-digest',
]

/** Makes what callers get of an answer that was read whole: template of the operation, header edits, error override, then modules. */
export async function answerBuffered(x: Exchange, body: Buffer): Promise<Reply | Fault> {
  try {
    const bodiless = x.method === 'HEAD' || isBodiless(x.status)
    const bytes = bodiless ? body : filterWhole(x, await unpacked(x, body))
    const override = overrideOfAnswer(x, bytes)
    const rule = bodiless || override !== undefined ? undefined : x.operation?.answerBody
    // An answer that nobody takes for JSON (or XML, where that is asked for), such as an error page, is handed on as it is.
    const input = rule === undefined ? undefined : templateInput(bytes, rule)
    if (input !== undefined && 'isJson' in input && input.isJson) return fault(FAULTS.malformed, input.reason)
    const made = input !== undefined && 'value' in input ? transformed(x, rule!, input.value, FAULTS) : bytes
    if (made instanceof Error) return made
    for (const name of OF_THE_BYTES) x.response.drop(name)
    const { bodyConsumer } = x
    // The cache stores only what streams: of a buffered error it sees neither head nor body, only the end.
    if (x.holdFrom > 0) x.bodyConsumer = undefined
    const extra = editAnswer(x)
    x.bodyConsumer = bodyConsumer
    const upstream = { status: x.status, fields: x.response.kept() + extra, body: made }
    const answer = override === undefined ? upstream : overridden(override, upstream, x)
    const { modules } = x.chain!
    if (modules?.has('response') !== true) return answer
    const sent = Buffer.from(answer.body ?? '')
    return await throughModules(x, modules, { ...answer, fields: pairsOf(answer.fields), body: ownBytes(sent) })
  } catch (error) {
    return toFault(error)
  }
}

/** @throws Fault `answer_untransformable` where the encoding is not known or the bytes do not fit it, `answer_too_large` */
async function unpacked(x: Exchange, body: Buffer): Promise<Buffer> {
  const made = await decode(body, codingOf(x.response), MAX_BUFFERED_BYTES)
  if (made === TOO_LARGE) throw fault('answer_too_large')
  if (typeof made === 'string') throw fault('answer_untransformable', made)
  return made
}

async function throughModules(x: Exchange, modules: ModuleSet, answer: AnswerView): Promise<Reply> {
  const names = credentialNames(x.chain!.api)
  const fields = openFields(x.request.entries(), names)
  const query = splitQuery(x.forwardQuery, names).open
  const request = requestView(x, { path: x.forwardPath || '/', query, fields })
  const made = await modules.call('response', { request, answer })
  x.moduleContext = made.context
  if (made.refusal !== undefined || made.reply !== undefined) {
    const reply = replyOf(x, made)
    const added = addedFields(x)
    return { ...reply, fields: keepingCors(x.corsFields, added, reply.fields + added) }
  }
  const { status, body } = made.answer!
  const lines = fieldLines(made.edits.reduce(edited, answer.fields))
  return { status, fields: keepingCors(x.corsFields, fieldLines(answer.fields), lines), body }
}

function edited(fields: FieldPairs, { name, values }: FieldEdit): FieldPairs {
  const others = fields.filter(([each]) => each.toLowerCase() !== name)
  return [...others, ...values.map((value) => [name, value] as const)]
}
