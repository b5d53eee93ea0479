import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { PlainField } from '../../../parts/forms/fields.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { BASE64, NUMBERS, PERCENT } from '../settings/codec.ts'

/** A section of an operation's gateway settings that several fields of the form make up. */
export interface Rule {
  readonly section: string
  /** Names of its fields, each with its member; the first one is for the section as a whole. */
  readonly fields: Readonly<Record<string, string>>
  readonly read: (held: Definition, isOn: boolean) => FormValues
  readonly isOn: (values: FormValues) => boolean
  /** Members over what is there already; undefined takes one out. */
  readonly write: (values: FormValues, held: Definition) => Readonly<Record<string, Json | undefined>>
}

const words = (name: string) => ({
  name,
  label: say(`apiSet.${name}` as TextName),
  hint: say(`apiSet.${name}Hint` as TextName),
})
const positive = (value: Json | undefined): FormValue => (typeof value === 'number' && value > 0 ? value : '')
const whole = (value: FormValue | undefined) => (typeof value === 'number' ? value : undefined)

/** The initial values of a circuit breaker: half of the last twenty requests, half a minute. */
const BREAKER: Definition = { threshold: 0.5, sampleSize: 20, coolDownPeriod: 30, halfOpenStateEnabled: true }

const CACHE_RULE: Rule = {
  section: 'cache',
  fields: { opCache: '', opCacheFor: 'timeout', opCacheStatuses: 'cacheResponseCodes' },
  read: (held, isOn) => ({
    ...{ opCache: isOn, opCacheFor: positive(held.timeout) },
    opCacheStatuses: NUMBERS.read(held.cacheResponseCodes),
  }),
  isOn: ({ opCache }) => opCache === true,
  write: ({ opCacheFor: seconds, opCacheStatuses: statuses }) => ({
    ...{ timeout: whole(seconds), cacheResponseCodes: NUMBERS.write(statuses ?? []) },
  }),
}

const BREAKER_RULE: Rule = {
  section: 'circuitBreaker',
  fields: {
    ...{ opBreaker: '', opBreakerShare: 'threshold', opBreakerSamples: 'sampleSize' },
    ...{ opBreakerPause: 'coolDownPeriod', opBreakerProbe: 'halfOpenStateEnabled' },
  },
  read: (held, isOn) => ({
    ...{ opBreaker: isOn, opBreakerShare: PERCENT.read(held.threshold), opBreakerSamples: positive(held.sampleSize) },
    ...{ opBreakerPause: positive(held.coolDownPeriod), opBreakerProbe: held.halfOpenStateEnabled === true },
  }),
  isOn: ({ opBreaker }) => opBreaker === true,
  write: (values, held) =>
    Object.keys(held).length === 0
      ? BREAKER
      : {
          threshold: PERCENT.write(values.opBreakerShare ?? ''),
          sampleSize: whole(values.opBreakerSamples),
          coolDownPeriod: whole(values.opBreakerPause),
          halfOpenStateEnabled: values.opBreakerProbe === true,
        },
}

/** A template of the body of requests (`opBody`) or answers (`opReply`). */
function templateRule(section: string, name: 'opBody' | 'opReply'): Rule {
  const [text, session] = [`${name}Template`, `${name}Session`] as const
  return {
    section,
    fields: { [name]: '', [text]: 'body', [session]: 'enableSession' },
    read: (held, isOn) => ({
      ...{ [name]: isOn, [text]: BASE64.read(held.body), [session]: held.enableSession === true },
    }),
    isOn: (values) => values[name] === true,
    write: (values, held) => ({
      ...{ format: held.format ?? 'json', body: BASE64.write(values[text] ?? '', held.body) },
      enableSession: values[session] === true ? true : held.enableSession === undefined ? undefined : false,
    }),
  }
}

/** Answers that are kept, breakers, and templates of bodies. */
export const RESILIENCE_RULES: readonly Rule[] = [
  CACHE_RULE,
  BREAKER_RULE,
  templateRule('transformRequestBody', 'opBody'),
  templateRule('transformResponseBody', 'opReply'),
]

const on = (name: string) => (all: FormValues) => all[name] === true

/** Fields of what is said of kept answers. */
export function cacheFields(): readonly PlainField[] {
  const when = on('opCache')
  return [
    { ...words('opCache'), kind: 'switch' },
    { ...words('opCacheFor'), kind: 'number', min: 0, unit: 's', when },
    { ...words('opCacheStatuses'), kind: 'list', when },
  ]
}

/** Fields of a circuit breaker. */
export function breakerFields(): readonly PlainField[] {
  const when = on('opBreaker')
  return [
    { ...words('opBreaker'), kind: 'switch' },
    { ...words('opBreakerShare'), kind: 'number', min: 0, max: 100, unit: '%', when },
    { ...words('opBreakerSamples'), kind: 'number', min: 0, when },
    { ...words('opBreakerPause'), kind: 'number', min: 0, unit: 's', when },
    { ...words('opBreakerProbe'), kind: 'switch', when },
  ]
}

/** Fields of a template. */
export function templateFields(name: 'opBody' | 'opReply'): readonly PlainField[] {
  const when = on(name)
  return [
    { ...words(name), kind: 'switch' },
    {
      ...{ ...words(`${name}Template`), kind: 'area', isCode: true, rows: 4, when },
      placeholder: '{ "name": "{{ .customer.name }}" }',
    },
    { ...words(`${name}Session`), kind: 'switch', when },
  ]
}
