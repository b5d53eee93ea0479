import { Type } from 'typebox'
import { storageId } from './text-forms.ts'

/** How many pages a list has. */
export const PageCount = Type.Integer({ description: 'Number of pages; 0 where everything was asked for.' })

/** The first member of an answer that is no refusal. */
export const OkStatus = Type.Literal('OK', { description: 'Always `OK`: a refusal has `Error`.' })

/** Outcome of a call, for people. */
export const OutcomeText = Type.String({ description: 'Outcome, as text for people.' })

/** Members without effect, in the answer of a call that has stored something. */
export const WARNINGS_TEXT = 'Members that have no effect, or another one than their author may expect.'

/** A member that has no effect, or another one than its writer may expect. */
export const Warning = Type.Object(
  {
    path: Type.String({ description: 'Place of the member, with dots, such as `proxy.target_url`.' }),
    message: Type.String({ description: 'What is wrong, as text for people.' }),
  },
  { title: 'Warning' },
)

/** The response of `ok`, for calls that only succeed. */
export const DoneEnvelope = Type.Object(
  { Status: OkStatus, Message: OutcomeText, Meta: Type.Null() },
  { title: 'Done' },
)

/** The same of calls that create something of an id. */
export const CreatedEnvelope = Type.Object(
  {
    Status: OkStatus,
    Message: storageId('Id of what was created: 24 hexadecimal digits.'),
    Meta: Type.Null(),
  },
  { title: 'Created' },
)

/** The same of calls that store something and may warn of parts of it. */
export const WarnedEnvelope = Type.Object(
  {
    ...DoneEnvelope.properties,
    Warnings: Type.Optional(Type.Array(Warning, { description: WARNINGS_TEXT })),
  },
  { title: 'DoneWithWarnings' },
)
