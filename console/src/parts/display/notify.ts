import { notifications } from '@mantine/notifications'
import { CallError } from '../../api/calls/call.ts'
import { say } from '../../texts/say.ts'
import { faultText } from './fault-box.tsx'

/** Says for some seconds that something is done; with an id not again while it is still being said. */
export function notifyDone(message: string, id?: string): void {
  notifications.show({ ...(id !== undefined && { id }), message, color: 'teal', withBorder: true })
}

/** Shows the warning of a write that succeeded, until it is closed. */
export function notifyWarning(message: string): void {
  notifications.show({ message, color: 'yellow', withBorder: true, autoClose: false })
}

/** Says what went wrong until it is closed. */
export function notifyFault(error: unknown): void {
  const requestId = error instanceof CallError && error.requestId !== '' ? error.requestId : undefined
  notifications.show({
    title: faultText(error),
    message: requestId === undefined ? '' : say('part.request', { id: requestId }),
    color: 'red',
    withBorder: true,
    autoClose: false,
  })
}
