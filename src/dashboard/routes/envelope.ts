import { Type } from 'typebox'

/** A member that has no effect, or another one than its writer may expect. */
export const Warning = Type.Object({ path: Type.String(), message: Type.String() }, { title: 'Warning' })

/** The response of `ok`, for calls that only succeed. */
export const DoneEnvelope = Type.Object(
  { Status: Type.Literal('OK'), Message: Type.String(), Meta: Type.Null() },
  { title: 'Done' },
)

/** The same of calls that store something and may warn of parts of it. */
export const WarnedEnvelope = Type.Object(
  { ...DoneEnvelope.properties, Warnings: Type.Optional(Type.Array(Warning)) },
  { title: 'DoneWithWarnings' },
)
