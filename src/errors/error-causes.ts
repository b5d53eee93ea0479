/** The usual cause of each error and what to do, for people. */
export type ErrorCauses<Code extends string> = Readonly<Record<Code, readonly [cause: string, cure: string]>>
