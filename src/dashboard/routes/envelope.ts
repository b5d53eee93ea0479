import { Type } from 'typebox'

/** The response of `ok`, for calls that only succeed. */
export const DoneEnvelope = Type.Object({ Status: Type.Literal('OK'), Message: Type.String(), Meta: Type.Null() })
