import { adapters } from './adapters.ts'
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

documentsSuite(adapters)
listsSuite(adapters)
auditSuite(adapters)
tokensSuite(adapters)
countersSuite(adapters)
feedSuite(adapters)
hitsSuite(adapters)
hitSamplesSuite(adapters)
usageSuite(adapters)
ticketsSuite(adapters)
outboxSuite(adapters)
recordsSuite(adapters)
ticketRaces(adapters)
