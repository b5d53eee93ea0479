import type { Needs, SignInStep } from '../../api/people/sign-in.ts'

/** What every step of a sign-in is given. */
export interface StepProps {
  readonly step: Needs
  readonly onStep: (step: SignInStep) => void
  /** Begins again, with the reason why where there is one. */
  readonly onLapse: (why?: unknown) => void
}
