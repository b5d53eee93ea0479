import { call } from './call.ts'

/** What the page before the console knows. */
export interface Doors {
  readonly signed_in: boolean
  readonly set_up_open: boolean
  readonly sends_mail: boolean
  readonly doors: readonly { readonly name: string; readonly url: string; readonly kind: 'redirect' | 'form' }[]
}

export const DOORS_KEY = ['doors'] as const

/** How one may sign in here, and whether this browser is. */
export function readDoors(): Promise<Doors> {
  return call<Doors>('GET', '/api/login/doors')
}
