import type { Definition } from '../../../api/apis/apis.ts'
import type { Heading, PlainField } from '../../../parts/forms/fields.ts'
import type { FormValues } from '../../../parts/forms/form-values.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { at, EXTENSION, objectAt, withAt } from '../editor/tree.ts'
import { type Operation, operationsOf } from '../openapi/openapi-operations.ts'
import { DURATION, NUMBER } from '../settings/codec.ts'
import { breakerFields, cacheFields, templateFields } from './operation-resilience.ts'
import { mockFields, requestFields, rulePlaces, ruleValues, sectionOf, sectionWith } from './operation-rules.ts'

const SWITCHES = [
  ...['allow', 'block', 'ignoreAuthentication', 'internal', 'trackEndpoint', 'doNotTrackEndpoint'],
] as readonly string[]

interface NumberSetting {
  readonly name: string
  readonly section: string
  readonly member: string
  readonly unit: string
}

const NUMBERS: readonly NumberSetting[] = [
  { name: 'opRate', section: 'rateLimit', member: 'rate', unit: '' },
  { name: 'opPer', section: 'rateLimit', member: 'per', unit: 's' },
  { name: 'opTimeout', section: 'enforceTimeout', member: 'value', unit: 's' },
  { name: 'opSize', section: 'requestSizeLimit', member: 'value', unit: 'bytes' },
]

const codecOf = ({ member }: NumberSetting) => (member === 'per' ? DURATION : NUMBER)

/** Fields of what is most often set for one operation, below headings. */
export function operationFields({ method }: Pick<Operation, 'method'>): readonly (PlainField | Heading)[] {
  const words = (name: string) => ({
    name,
    label: say(`apiSet.${name}` as TextName),
    hint: say(`apiSet.${name}Hint` as TextName),
  })
  const flag = (name: string): PlainField => ({ ...words(name), kind: 'switch' })
  const number = ({ name, unit }: NumberSetting): PlainField => ({
    ...{ ...words(name), kind: 'number', min: 0 },
    ...(unit !== '' && { unit }),
  })
  const heading = (name: string): Heading => ({ heading: say(`apiSet.${name}` as TextName) })
  return [
    heading('opAccess'),
    ...SWITCHES.map(flag),
    heading('opLimits'),
    ...NUMBERS.map(number),
    heading('opRequests'),
    ...requestFields(),
    ...templateFields('opBody'),
    heading('opAnswers'),
    ...mockFields(),
    ...templateFields('opReply'),
    // Answers to other methods are not kept.
    ...(['GET', 'HEAD'].includes(method) ? cacheFields() : []),
    heading('opFailures'),
    ...breakerFields(),
  ]
}

/** Each field of an operation with the place that the dashboard names where something is wrong with it. */
export function operationPlaces({ id }: Operation): readonly (readonly [field: string, place: readonly string[]])[] {
  const root = operationAt(id)
  return [
    ...NUMBERS.map(({ name, section, member }) => [name, [...root, section, member]] as const),
    ...SWITCHES.map((name) => [name, [...root, name]] as const),
    ...rulePlaces().map(([name, place]) => [name, [...root, ...place]] as const),
  ]
}

/** The place of an operation's gateway settings in a document. */
export function operationAt(id: string): readonly string[] {
  return [EXTENSION, 'middleware', 'operations', id]
}

/** An operation's gateway settings, as the form shows them. */
export function operationValues(settings: Definition): FormValues {
  return {
    ...Object.fromEntries(SWITCHES.map((name) => [name, at(settings, [name, 'enabled']) === true])),
    ...Object.fromEntries(
      NUMBERS.map((setting) => {
        const on = at(settings, [setting.section, 'enabled']) === true
        return [setting.name, on ? codecOf(setting).read(at(settings, [setting.section, setting.member])) : '']
      }),
    ),
    ...ruleValues(settings),
  }
}

/** The document with what differs in the form of one operation; one without a name is given one. */
export function withOperation(definition: Definition, { key, settings }: Operation, values: FormValues): Definition {
  const before = operationValues(settings)
  const changed = Object.keys(values).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(before[name]))
  const operation = operationsOf(definition).find((each) => each.key === key)
  if (changed.length === 0 || operation === undefined) return definition
  const id = operation.id || freeId(definition, operation)
  let next = definition
  if (operation.id === '')
    next = withAt(next, ['paths', operation.path, operation.method.toLowerCase(), 'operationId'], id)
  const place = operationAt(id)
  for (const section of new Set(changed.map(sectionOf)))
    if (section !== undefined)
      next = withAt(next, [...place, section], sectionWith(objectAt(next, place), section, values))
  for (const name of changed.filter((each) => sectionOf(each) === undefined)) {
    const number = NUMBERS.find((each) => each.name === name)
    if (number === undefined) {
      next = withAt(next, [...place, name], values[name] === true ? { enabled: true } : undefined)
      continue
    }
    const written = codecOf(number).write(values[name]!)
    const siblings = NUMBERS.filter(({ section }) => section === number.section)
    const isLeft = written !== undefined || siblings.some((each) => each !== number && values[each.name] !== '')
    next = isLeft
      ? withAt(
          withAt(next, [...place, number.section, 'enabled'], true),
          [...place, number.section, number.member],
          written,
        )
      : withAt(next, [...place, number.section], undefined)
  }
  return Object.keys(objectAt(next, place)).length === 0 ? withAt(next, place, undefined) : next
}

function freeId(definition: Definition, { method, path }: Operation): string {
  const taken = new Set(operationsOf(definition).map(({ id }) => id))
  let id = `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`
  while (taken.has(id)) id += '_'
  return id
}
