import type { SignInNeeds, SignInStep } from '../../api/people/sign-in.ts'

/** The properties of every sign-in step. */
export interface StepProps {
  readonly step: SignInNeeds
  readonly onStep: (step: SignInStep) => void
  /** Begins again, with the reason why where there is one. */
  readonly onLapse: (why?: unknown) => void
}
