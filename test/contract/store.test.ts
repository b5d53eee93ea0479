import { adapters, postgres, redis, remote, sharing } from './adapters.ts'
import { auditSuite } from './audit.ts'
import { countersSuite } from './counters.ts'
import { documentsSuite } from './documents.ts'
import { feedSuite } from './feed.ts'
import { hitSamplesSuite } from './hit-samples.ts'
import { hitsSuite } from './hits.ts'
import { listsSuite } from './lists.ts'
import { outboxSuite } from './outbox.ts'
import { recordsSuite } from './records.ts'
import { ticketRaces } from './ticket-races.ts'
import { ticketsSuite } from './tickets.ts'
import { tokensSuite } from './tokens.ts'
import { usageSuite } from './usage.ts'

// The oldest PostgreSQL that is supported, too.
const stores = process.env.GATEHOUSE_DEEP === '1' ? [...adapters, postgres('postgres 15', 15)] : adapters

documentsSuite(stores)
listsSuite(stores)
auditSuite(stores)
tokensSuite(stores)
countersSuite([...stores, redis, remote, sharing])
feedSuite(stores)
hitsSuite(stores)
hitSamplesSuite(stores)
usageSuite(stores)
ticketsSuite(stores)
outboxSuite(stores)
recordsSuite(stores)
ticketRaces(stores)
