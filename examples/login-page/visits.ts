import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The question to a person: an app's request for access, or a device's. */
export type Question =
  | { readonly is: 'app'; readonly client: ClientInfo; readonly params: ReadonlyMap<string, string> }
  | { readonly is: 'device'; readonly userCode: string }

/** An app as it is shown to the person. */
export interface ClientInfo {
  readonly clientId: string
  readonly name: string
  readonly redirectUris: readonly string[]
}

const LIFE_MS = 1_800_000
const MAX_VISITS = 10_000
const MAX_QUESTIONS = 20

/** One browser. It knows the id from a cookie that no script can read, and the token from our own pages only. */
export class Visit {
  readonly id = randomBytes(32).toString('base64url')
  /** A field of every form: another site can make a browser send a form with our cookie, but not with this (CSRF). */
  readonly formToken = randomBytes(32).toString('base64url')
  readonly endsAt = Date.now() + LIFE_MS
  /** The person who has signed in; undefined = nobody yet. */
  readonly user: string | undefined
  /** Open questions by the name that their page has. They stay on this server, so that nobody can change them on the way. */
  readonly #questions: Map<string, Question>

  constructor(user?: string, questions: ReadonlyMap<string, Question> = new Map()) {
    this.user = user
    this.#questions = new Map(questions)
  }

  ask(question: Question): string {
    const name = randomBytes(16).toString('base64url')
    this.#questions.set(name, question)
    if (this.#questions.size > MAX_QUESTIONS) this.#questions.delete(this.#questions.keys().next().value!)
    return name
  }

  question(name: string): Question | undefined {
    return this.#questions.get(name)
  }

  /** Takes a question to decide it: nobody decides it a second time. */
  take(name: string): Question | undefined {
    const question = this.#questions.get(name)
    this.#questions.delete(name)
    return question
  }

  /** The same browser after its user has signed in: a new id, so that one planted before is worth nothing (session fixation). */
  signedIn(user: string): Visit {
    return new Visit(user, this.#questions)
  }

  isFormToken(given: string): boolean {
    return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', this.formToken, 'buffer'))
  }
}

/** Recent browsers, in memory. */
export class Visits {
  readonly #visits = new Map<string, Visit>()

  find(id: string): Visit | undefined {
    const visit = this.#visits.get(id)
    return visit !== undefined && visit.endsAt > Date.now() ? visit : undefined
  }

  add(visit: Visit): Visit {
    this.#visits.set(visit.id, visit)
    if (this.#visits.size > MAX_VISITS) this.#visits.delete(this.#visits.keys().next().value!)
    return visit
  }

  end(visit: Visit): void {
    this.#visits.delete(visit.id)
  }
}
