import type { Definition } from '../../../api/apis/apis.ts'
import { EVENT_NAMES, isDashboardEvent } from '../../../api/platform/api-events.ts'
import type { FormValues } from '../../../parts/forms/form-values.ts'
import { say } from '../../../texts/say.ts'
import {
  type Codec,
  DURATION,
  FIELD_LIST,
  FIELD_MAP,
  NANOSECONDS,
  NUMBERS,
  OPPOSITE,
  OPTIONAL,
  POSITIVE,
  WORDS,
} from './codec.ts'
import { domainMap, HANDLERS, type Listing, MODULE_LIST, PHASES, plainList } from './entry-lists.ts'
import { placesIn, type Setting, settingsIn, valuesIn, withSettings } from './setting.ts'

/** Things of one kind that a form lists: what is said of each, and what the list calls it. */
export interface EntryKind {
  readonly name: 'checks' | 'shown' | 'pins' | 'handlers' | 'modules'
  readonly listing: Listing
  readonly settings: readonly Setting[]
  readonly fresh: FormValues
  readonly titleOf: (values: FormValues) => string
  /** Takes what is said of a thing as a whole. */
  readonly main: string
  /** A field of which no two have the same. */
  readonly unique?: string
  /** They are called in their order within those for which this field says the same. */
  readonly orderedBy?: string
  /** A switch that may be off. */
  readonly onBy?: string
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

const CHECKS: EntryKind = {
  name: 'checks',
  main: 'checkUrl',
  listing: plainList(['upstream.uptimeTests.tests', 'uptime_tests.check_list']),
  settings: [
    { name: 'checkUrl', kind: 'text', oas: 'url', classic: 'url', required: true, placeholder: '/health' },
    {
      ...{ name: 'checkMethod', kind: 'choice', oas: 'method', classic: 'method', words: METHODS, labelOf: String },
      ...{ oasAs: orElse('GET'), classicAs: orElse('GET') },
    },
    {
      ...{ name: 'checkStatuses', kind: 'list', oas: 'expectedStatuses', classic: 'expected_statuses' },
      ...{ oasAs: NUMBERS, classicAs: NUMBERS },
    },
    {
      ...{ name: 'checkTimeout', kind: 'number', oas: 'timeout', classic: 'timeout', unit: 's', placeholder: '5 s' },
      ...{ oasAs: DURATION, classicAs: NANOSECONDS },
    },
    {
      ...{ name: 'checkHeaders', kind: 'list', isWhole: true, oas: 'headers', classic: 'headers' },
      ...{ oasAs: FIELD_MAP, classicAs: FIELD_MAP },
    },
    {
      ...{ name: 'checkBody', kind: 'area', oas: 'body', classic: 'body', oasAs: OPTIONAL, classicAs: OPTIONAL },
      when: ({ checkMethod }) => !['GET', 'HEAD'].includes(String(checkMethod)),
    },
  ],
  fresh: { checkUrl: '/health', checkMethod: 'GET' },
  titleOf: ({ checkMethod, checkUrl }) => `${checkMethod} ${checkUrl}`,
}

const hostWord = (domain: FormValues[string] | undefined) => (domain === '*' ? say('apiSet.everyHost') : String(domain))

const SHOWN: EntryKind = {
  name: 'shown',
  main: 'shownId',
  unique: 'shownDomain',
  listing: domainMap(['upstream.mutualTLS.domainToCertificates', 'upstream_certificates'], 'certificate'),
  settings: [
    { name: 'shownDomain', kind: 'text', oas: 'domain', classic: 'domain', required: true, placeholder: '*' },
    { name: 'shownId', kind: 'text', oas: 'certificate', classic: 'certificate', required: true },
  ],
  fresh: { shownDomain: '*', shownId: '' },
  titleOf: ({ shownDomain }) => hostWord(shownDomain),
}

/** In the classic format a text with commas. */
const COMMAS: Codec = {
  read: (written) =>
    String(written ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  write: (value) => (Array.isArray(value) ? value.join(',') : ''),
}

const PINS: EntryKind = {
  name: 'pins',
  main: 'pinKeys',
  unique: 'pinDomain',
  listing: domainMap(['upstream.certificatePinning.domainToPublicKeysMapping', 'pinned_public_keys'], 'publicKeys'),
  settings: [
    { name: 'pinDomain', kind: 'text', oas: 'domain', classic: 'domain', required: true, placeholder: '*' },
    {
      ...{ name: 'pinKeys', kind: 'list', oas: 'publicKeys', classic: 'publicKeys', required: true },
      ...{ oasAs: WORDS, classicAs: COMMAS },
    },
  ],
  fresh: { pinDomain: '*', pinKeys: [] },
  titleOf: ({ pinDomain }) => hostWord(pinDomain),
}

/** Events of an API that handlers can have. */
const HANDLED_EVENTS = EVENT_NAMES.filter((name) => !isDashboardEvent(name))

/** The name of an event; an unknown one is shown unchanged. */
const eventWord = (name: string): string => {
  const known = HANDLED_EVENTS.find((each) => each === name)
  return known === undefined ? name : say(`apiHooks.event.${known}`)
}

/** In any letter case of the definition. */
const EVENT: Codec = {
  read: (written) => {
    const text = String(written ?? '')
    return HANDLED_EVENTS.find((name) => name.toLowerCase() === text.toLowerCase()) ?? text
  },
  write: (value) => String(value),
}

const HANDLER_NAMES: Readonly<Record<string, string>> = { webhook: 'eh_web_hook_handler', log: 'eh_log_handler' }
const HANDLER_NAME: Codec = {
  read: (written) =>
    Object.keys(HANDLER_NAMES).find((type) => HANDLER_NAMES[type] === written) ?? String(written ?? ''),
  write: (value) => HANDLER_NAMES[String(value)] ?? String(value),
}

const isWebhook = ({ eventTo }: FormValues) => eventTo === 'webhook'

const HANDLER_ENTRIES: EntryKind = {
  name: 'handlers',
  main: 'eventUrl',
  onBy: 'eventOn',
  listing: HANDLERS,
  settings: [
    {
      ...{ name: 'eventName', kind: 'choice', oas: 'trigger', classic: 'trigger', oasAs: EVENT, classicAs: EVENT },
      ...{ words: HANDLED_EVENTS, labelOf: eventWord, required: true },
    },
    {
      ...{ name: 'eventTo', kind: 'choice', words: ['webhook', 'log'], oas: 'type' },
      ...{ classic: 'handler_name', classicAs: HANDLER_NAME },
    },
    {
      ...{ name: 'eventUrl', kind: 'url', oas: 'url', classic: 'handler_meta.target_path', required: true },
      ...{ oasAs: OPTIONAL, classicAs: OPTIONAL, when: isWebhook, placeholder: 'https://example.org/hook' },
    },
    {
      ...{ name: 'eventMethod', kind: 'choice', words: METHODS, labelOf: String },
      ...{ oas: 'method', classic: 'handler_meta.method' },
      ...{ oasAs: orElse('POST'), classicAs: orElse('POST'), when: isWebhook },
    },
    {
      ...{ name: 'eventHeaders', kind: 'list', isWhole: true, when: isWebhook },
      ...{ oas: 'headers', oasAs: FIELD_LIST, classic: 'handler_meta.header_map', classicAs: FIELD_MAP },
    },
    {
      ...{ name: 'eventCooldown', kind: 'number', unit: 's', when: isWebhook, placeholder: '0 s' },
      ...{ oas: 'cooldownPeriod', oasAs: DURATION, classic: 'handler_meta.event_timeout', classicAs: POSITIVE },
    },
    {
      ...{ name: 'eventPrefix', kind: 'text', oas: 'logPrefix', classic: 'handler_meta.prefix' },
      ...{ oasAs: OPTIONAL, classicAs: OPTIONAL, when: ({ eventTo }) => eventTo === 'log' },
    },
    {
      ...{ name: 'eventOn', kind: 'switch', oas: 'enabled', classic: 'handler_meta.disabled', classicAs: OPPOSITE },
    },
  ],
  fresh: { eventName: 'AuthFailure', eventTo: 'webhook', eventMethod: 'POST', eventCooldown: 60, eventOn: true },
  titleOf: ({ eventName }) => eventWord(String(eventName)),
}

const MODULE_CALLS: EntryKind = {
  name: 'modules',
  main: 'moduleFile',
  onBy: 'moduleOn',
  orderedBy: 'modulePhase',
  listing: MODULE_LIST,
  settings: [
    { name: 'modulePhase', kind: 'choice', words: Object.keys(PHASES), oas: 'phase', classic: 'phase' },
    { name: 'moduleFile', kind: 'text', oas: 'path', classic: 'path', required: true, placeholder: 'tenant.ts' },
    {
      ...{ name: 'moduleFunction', kind: 'text', required: true, placeholder: 'addTenant' },
      ...{ oas: 'functionName', classic: 'name' },
    },
    {
      ...{ name: 'moduleBody', kind: 'number', oas: 'bodyLimitBytes', classic: 'body_limit_bytes', unit: 'bytes' },
      ...{ oasAs: POSITIVE, classicAs: POSITIVE, max: 1_048_576, placeholder: '0' },
      when: ({ modulePhase }) => modulePhase !== 'response',
    },
    { name: 'moduleOn', kind: 'switch', oas: 'enabled', classic: 'disabled', classicAs: OPPOSITE },
  ],
  fresh: { modulePhase: 'postAuthentication', moduleOn: true },
  titleOf: ({ moduleFile, moduleFunction }) => `${moduleFile} › ${moduleFunction}`,
}

/** Every kind by the name of its part of the form. */
export const ENTRY_KINDS: Readonly<Record<EntryKind['name'], EntryKind>> = {
  ...{ checks: CHECKS, shown: SHOWN, pins: PINS, handlers: HANDLER_ENTRIES, modules: MODULE_CALLS },
}

/** A word in capitals, and the one that counts where none is written. */
function orElse(absent: string): Codec {
  return {
    read: (written) => (typeof written === 'string' && written !== '' ? written.toUpperCase() : absent),
    write: String,
  }
}

/** A thing of a list: what the form shows of it, all that is written of it, and where. */
export interface Entry {
  readonly values: FormValues
  readonly held: Definition
  readonly place: readonly string[]
}

/** The things of a kind that a definition lists. */
export function entriesOf({ listing, settings }: EntryKind, definition: Definition, isOas: boolean): readonly Entry[] {
  return listing.read(definition, isOas).map(({ entry, place }) => ({
    ...{ held: entry, place, values: valuesIn(entry, settingsIn(settings, isOas), isOas, []) },
  }))
}

/** The initial form values of a new entry. */
export function freshValues({ settings, fresh }: EntryKind, isOas: boolean): FormValues {
  return { ...valuesIn({}, settingsIn(settings, isOas), isOas, []), ...fresh }
}

/** The definition of an entry after its form was filled in; members outside the form stay. */
export function entryWith({ settings }: EntryKind, held: Definition, isOas: boolean, values: FormValues): Definition {
  return withSettings(held, settingsIn(settings, isOas), isOas, { root: [], values })
}

/** The fields of a thing with their places; what is said of the thing as a whole is said at its main field. */
export function entryPlaces(
  { settings, main }: EntryKind,
  { place }: Entry,
  isOas: boolean,
): readonly (readonly [field: string, place: readonly string[]])[] {
  return [...placesIn(settingsIn(settings, isOas), isOas, place), [main, place]]
}
