import type { Snapshot } from '../server/exchange.ts'
import type { LiveSession, SessionSource, Sessions } from '../sessions/sessions.ts'
import { RecentCache } from './recent-cache.ts'

/** The subject of a proof: the source of a session that is not stored, and the name of that session. */
export interface DerivedCaller {
  readonly source: SessionSource
  readonly keyHash: string
  readonly place: string
  /** How many policies the proof names; 0 when they are those of the definition, or it has none. */
  readonly policyCount: number
}

/** Half of the callers that an API remembers. */
const REMEMBERED = 4_096

/** The sessions of callers that are known by a proof of another issuer, each made once for each state of the policies. */
export class DerivedCallers {
  readonly #sessions: Sessions
  readonly #known = new RecentCache<LiveSession>(REMEMBERED)

  constructor(sessions: Sessions) {
    this.#sessions = sessions
  }

  /** The session of a caller with the policies of this moment. */
  sessionOf({ source, keyHash, place }: DerivedCaller, snapshot: Snapshot): LiveSession {
    const known = this.#known.get(place)
    if (known !== undefined && known.policyGeneration === snapshot.policyGeneration) return known
    const made = this.#sessions.derive(source, keyHash, snapshot)
    this.#known.keep(place, made)
    return made
  }
}
