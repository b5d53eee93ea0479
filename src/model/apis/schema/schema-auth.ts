import { SCHEMES } from '../../authentication/schemes.ts'
import { bool, list, object, oneOf, type Schema, text } from './schema.ts'

const MOST_WORDS = 100

/** Methods that can say who calls where an API has several; the last two are not served. */
export const IDENTITY_SOURCES: readonly string[] = [
  '',
  ...SCHEMES.map(({ identity }) => identity),
  'oidc_user',
  'custom_auth',
]

/** Members of a classic definition that say how callers prove who they are. */
export const CLASSIC_AUTH: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(SCHEMES.filter(({ on }) => !on.includes('.')).map(({ on }) => [on, bool()])),
  security_processing_mode: oneOf('', 'legacy', 'compliant'),
  security_requirements: list(list(text(), MOST_WORDS), MOST_WORDS),
  ...membersOf(SCHEMES.map(({ classicSchema }) => classicSchema)),
}

/** Members of a security scheme of the extension besides places. */
export const OAS_SCHEME_AUTH = membersOf(
  SCHEMES.filter(({ declaration }) => declaration !== undefined).map(({ oasSchema }) => oasSchema),
)

/** Sections of the extension for schemes that OpenAPI cannot declare. */
export function oasSections(place: (name: Schema) => Schema): Readonly<Record<string, Schema>> {
  const sections = SCHEMES.filter(({ declaration }) => declaration === undefined)
  return Object.fromEntries(
    sections.map(({ config, oasSchema }) => [
      config,
      object({
        enabled: bool(),
        header: place(text('optionalFieldName')),
        query: place(text()),
        cookie: place(text('optionalFieldName')),
        ...oasSchema,
      }),
    ]),
  )
}

function membersOf(each: readonly Readonly<Record<string, Schema>>[]): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...each)
}
