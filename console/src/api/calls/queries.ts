import { notifyManager, QueryClient } from '@tanstack/react-query'
import { CallError } from './call.ts'

const TRIES = 2

/** The cache of dashboard reads, for as long as pages need them. Refusals are not retried; lost connections are. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < TRIES && error instanceof CallError && error.status === 0,
      refetchOnWindowFocus: true,
      // A browser that thinks itself offline may still reach the dashboard; where it cannot, that is said, not waited out.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

// A change that is shown at once is on the page before the next event: a switch does not go back for a moment.
notifyManager.setScheduler(queueMicrotask)
