import { Type } from 'typebox'

/** Properties of a setting besides its JSON Schema: `secret` values are masked wherever they are shown. */
interface Extra {
  readonly secret?: boolean
  readonly pattern?: string
  readonly allowed?: string
}

/** Objects in a list of them: more are a mistake. */
const MOST_OBJECTS = 1000

/** Bounds of a TCP port. */
export const PORT = [0, 65_535] as const

/** A setting that is on or off. */
export const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })

/** A whole number within bounds, both inclusive. */
export const whole = (value: number, [minimum, maximum]: readonly [number, number], description: string) =>
  Type.Integer({ default: value, minimum, maximum, description })

/** A whole number within bounds, or `auto`: then it is known when the settings are read. */
export const wholeOrAuto = (value: number, [minimum, maximum]: readonly [number, number], description: string) =>
  Type.Integer({
    ...{ default: value, minimum, maximum, description, auto: true },
    allowed: `a whole number from ${minimum} to ${maximum}, or auto`,
  })

/** A text. */
export const text = (value: string, description: string, extra: Extra = {}) =>
  Type.String({ default: value, description, ...extra })

/** A list of texts, empty by default. */
export const list = (description: string, extra: Extra = {}) =>
  Type.Array(Type.String({ minLength: 1, ...extra }), { default: [], description, uniqueItems: true })

/** A map of texts by names that people choose, empty by default. */
export const map = (description: string) => Type.Record(Type.String(), Type.String(), { default: {}, description })

/** A list of objects with these members, empty by default. In the environment it is JSON. */
export const objects = <P extends Parameters<typeof Type.Object>[0]>(
  members: P,
  description: string,
  extra: Required<Pick<Extra, 'allowed'>>,
) => Type.Array(group(members), { default: [], description, maxItems: MOST_OBJECTS, ...extra })

/** Settings below one name. */
export const group = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })
