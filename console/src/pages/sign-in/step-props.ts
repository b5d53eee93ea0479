import type { Needs, SignInStep } from '../../api/people/sign-in.ts'

/** The properties of every sign-in step. */
export interface StepProps {
  readonly step: Needs
  readonly onStep: (step: SignInStep) => void
  /** Begins again, with the reason why where there is one. */
  readonly onLapse: (why?: unknown) => void
}
