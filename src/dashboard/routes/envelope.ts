import { Type } from 'typebox'

/** What `ok` answers, for calls that tell nothing but that they succeeded. */
export const DoneEnvelope = Type.Object({ Status: Type.Literal('OK'), Message: Type.String(), Meta: Type.Null() })
