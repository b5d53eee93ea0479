import { Component, type ComponentType, createElement, type FunctionComponent, lazy, type ReactNode } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from './fault-box.tsx'

/** Module state: the number of retries by users; one that failed may be drawn in several places. */
let retries = 0

/**
 * A component that is loaded when it is first drawn. `lazy` keeps a failure for as long as the page is open; this loads again after
 * "Try again" of a `LoadBoundary`.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): FunctionComponent<Props> {
  let failedAt: number | undefined
  const open = () =>
    lazy(() =>
      load().catch((error: unknown) => {
        failedAt = retries
        throw error
      }),
    )
  let part = open()
  return function LazyPart(props: Props) {
    // Not with each drawing, which would load without end while the network is away.
    if (failedAt !== undefined && failedAt !== retries) {
      failedAt = undefined
      part = open()
    }
    return createElement(part as unknown as FunctionComponent<Props>, props)
  }
}

interface State {
  readonly hasFailed: boolean
}

/** Keeps the rest of the page, and what is typed there, where a part of it cannot be loaded. */
export class LoadBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { hasFailed: false }

  static getDerivedStateFromError(): State {
    return { hasFailed: true }
  }

  readonly #retry = () => {
    retries++
    this.setState({ hasFailed: false })
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return <FaultBox error={say('part.notLoaded')} retry={this.#retry} />
  }
}
