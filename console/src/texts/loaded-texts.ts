import { SHELL } from './shell.ts'
import { START } from './start.ts'

/**
 * Module state: every loaded text of the console by its name; a translation is another record of the same names. Those of pages
 * behind the sign-in are added by the modules that name them (`texts-by-area.ts`).
 */
export const LOADED: Record<string, string> = { ...SHELL, ...START }
