import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { PlainField } from '../../../parts/forms/fields.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { at, isObject, objectAt, textAt } from '../editor/tree.ts'
import { RESILIENCE_RULES, type Rule } from './operation-resilience.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const number = (value: Json | undefined): FormValue => (typeof value === 'number' && value > 0 ? value : '')
const text = (value: FormValue | undefined) => (value === undefined || value === '' ? undefined : String(value))
const whole = (value: FormValue | undefined) => (typeof value === 'number' ? value : undefined)

const RULES: readonly Rule[] = [
  {
    section: 'validateRequest',
    fields: { opValidate: '', opValidateCode: 'errorResponseCode', opValidateFill: 'fillDefaults' },
    read: (held, isOn) => ({
      ...{ opValidate: isOn, opValidateCode: number(held.errorResponseCode) },
      opValidateFill: typeof held.fillDefaults === 'boolean' ? (held.fillDefaults ? 'on' : 'off') : '',
    }),
    isOn: ({ opValidate }) => opValidate === true,
    write: ({ opValidateCode: code, opValidateFill: fill }) => ({
      ...{ errorResponseCode: whole(code), fillDefaults: text(fill) === undefined ? undefined : fill === 'on' },
    }),
  },
  {
    section: 'urlRewrite',
    fields: { opRewrite: '', opRewritePattern: 'pattern', opRewriteTo: 'rewriteTo' },
    read: (held, isOn) => ({
      ...{ opRewrite: isOn, opRewritePattern: textAt(held, ['pattern']), opRewriteTo: textAt(held, ['rewriteTo']) },
    }),
    isOn: ({ opRewrite }) => opRewrite === true,
    write: ({ opRewritePattern: pattern, opRewriteTo: to }) => ({ pattern: String(pattern), rewriteTo: String(to) }),
  },
  {
    section: 'transformRequestMethod',
    fields: { opMethod: '' },
    read: (held, isOn) => ({ opMethod: isOn ? textAt(held, ['toMethod']) : '' }),
    isOn: ({ opMethod }) => text(opMethod) !== undefined,
    write: ({ opMethod }) => ({ toMethod: text(opMethod) }),
  },
  {
    section: 'mockResponse',
    fields: {
      ...{ opMock: '', opMockCode: 'code', opMockHeaders: 'headers', opMockBody: 'body' },
      ...{ opMockName: 'fromOASExamples.exampleName', opMockType: 'fromOASExamples.contentType' },
    },
    read: readMock,
    isOn: ({ opMock }) => opMock !== 'none',
    write: writeMock,
  },
  ...RESILIENCE_RULES,
]

function readMock(held: Definition, isOn: boolean): FormValues {
  const from = objectAt(held, ['fromOASExamples'])
  const isExample = from.enabled === true
  const headers = Array.isArray(held.headers) ? held.headers.filter(isObject) : []
  return {
    opMock: isOn ? (isExample ? 'examples' : 'fixed') : 'none',
    opMockCode: number(isExample ? from.code : held.code),
    opMockHeaders: headers.map(({ name, value }) => `${name ?? ''}: ${value ?? ''}`),
    opMockBody: textAt(held, ['body']),
    opMockName: textAt(from, ['exampleName']),
    opMockType: textAt(from, ['contentType']),
  }
}

function writeMock(values: FormValues, held: Definition): ReturnType<Rule['write']> {
  const { opMock, opMockCode: code } = values
  const from = objectAt(held, ['fromOASExamples'])
  if (opMock === 'examples') {
    const named = { code: whole(code), exampleName: text(values.opMockName), contentType: text(values.opMockType) }
    return { fromOASExamples: withoutGaps({ ...from, ...named, enabled: true }) }
  }
  const lines = Array.isArray(values.opMockHeaders) ? values.opMockHeaders : []
  const headers = lines.map((line) => {
    const [name = '', ...rest] = line.split(':')
    return { name: name.trim(), value: rest.join(':').trim() }
  })
  return {
    ...{ code: whole(code), body: text(values.opMockBody), headers: headers.length > 0 ? headers : undefined },
    fromOASExamples: from.enabled === true ? { ...from, enabled: false } : held.fromOASExamples,
  }
}

function withoutGaps(members: Readonly<Record<string, Json | undefined>>): Definition {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

const words = (name: string) => ({
  name,
  label: say(`apiSet.${name}` as TextName),
  hint: say(`apiSet.${name}Hint` as TextName),
})
const is = (name: string, wanted: FormValue) => (all: FormValues) => all[name] === wanted
const STATUS = { min: 100, max: 599 }

/** Fields of what becomes of a request on its way to the service. */
export function requestFields(): readonly PlainField[] {
  return [
    { ...words('opValidate'), kind: 'switch' },
    { ...words('opValidateCode'), kind: 'number', ...STATUS, placeholder: '422', when: is('opValidate', true) },
    {
      ...{ ...words('opValidateFill'), kind: 'choice', clearable: true, when: is('opValidate', true) },
      choices: ['on', 'off'].map((value) => ({ value, label: say(`apiSet.opValidateFill.${value}` as TextName) })),
    },
    { ...words('opRewrite'), kind: 'switch' },
    {
      ...{ ...words('opRewritePattern'), kind: 'text', placeholder: '^/orders/([0-9]+)$' },
      when: is('opRewrite', true),
    },
    { ...words('opRewriteTo'), kind: 'text', placeholder: '/v2/orders?id=$1', when: is('opRewrite', true) },
    {
      ...{ ...words('opMethod'), kind: 'choice', clearable: true },
      choices: METHODS.map((value) => ({ value, label: value })),
    },
  ]
}

/** Fields of a mock response. */
export function mockFields(): readonly PlainField[] {
  const mocks = ['none', 'fixed', 'examples']
  return [
    {
      ...{ ...words('opMock'), kind: 'choice' },
      choices: mocks.map((value) => ({ value, label: say(`apiSet.opMock.${value}` as TextName) })),
    },
    {
      ...{ ...words('opMockCode'), kind: 'number', ...STATUS, placeholder: '200' },
      when: ({ opMock }) => opMock !== 'none',
    },
    { ...words('opMockHeaders'), kind: 'list', isWhole: true, when: is('opMock', 'fixed') },
    { ...words('opMockBody'), kind: 'area', isCode: true, rows: 3, when: is('opMock', 'fixed') },
    { ...words('opMockName'), kind: 'text', when: is('opMock', 'examples') },
    { ...words('opMockType'), kind: 'text', placeholder: 'application/json', when: is('opMock', 'examples') },
  ]
}

/** The form values of the rules. */
export function ruleValues(settings: Definition): FormValues {
  const read = ({ section, read: readRule }: Rule) => {
    const held = objectAt(settings, [section])
    return readRule(held, held.enabled === true)
  }
  return Object.assign({}, ...RULES.map(read)) as FormValues
}

/** The section that a field belongs to; undefined when it is none of these. */
export function sectionOf(field: string): string | undefined {
  return RULES.find(({ fields }) => Object.hasOwn(fields, field))?.section
}

/** Each field with its place below an operation. */
export function rulePlaces(): readonly (readonly [field: string, place: readonly string[]])[] {
  return RULES.flatMap(({ section, fields }) =>
    Object.entries(fields).map(([name, member]) => [name, [section, ...member.split('.').filter(Boolean)]] as const),
  )
}

/** A section as the form has it; undefined = it goes. What is switched off keeps what it says, for those who switch it on again. */
export function sectionWith(settings: Definition, section: string, values: FormValues): Definition | undefined {
  const { isOn, write } = RULES.find((rule) => rule.section === section)!
  const held = objectAt(settings, [section])
  if (isOn(values)) return withoutGaps({ ...held, ...write(values, held), enabled: true })
  const says = Object.keys(held).some((name) => name !== 'enabled' && at(held, [name]) !== '')
  return says ? { ...held, enabled: false } : undefined
}
