import { adapters } from './adapters.ts'
import { countersSuite } from './counters.ts'
import { documentsSuite } from './documents.ts'
import { feedSuite } from './feed.ts'
import { hitsSuite } from './hits.ts'
import { tokensSuite } from './tokens.ts'

documentsSuite(adapters)
tokensSuite(adapters)
countersSuite(adapters)
feedSuite(adapters)
hitsSuite(adapters)
