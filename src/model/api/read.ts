import type { Api, ApiDocument } from '../api.ts'
import type { JsonObject } from '../json.ts'
import { classicFlaws, classicWishes, oasFlaws, oasWishes } from './check-parts.ts'
import { servedClassic } from './convert.ts'
import { EXTENSION, extensionOf } from './extension.ts'
import { isEmpty, objectOf } from './members.ts'
import { readClassic } from './read-classic.ts'
import { member } from './tree.ts'
import { refuseWishes, wishesOf } from './unsupported.ts'
import { checkBounds, type Flaw, flawsOf, refuseFlaws } from './validate.ts'

/**
 * Reads a definition of either format into the model that is served, with every check that a save makes.
 * Both formats are served from the classic reading, so that a converted definition is served the same.
 * @throws Fault `definition_invalid` naming every fault by its path
 * @throws Fault `definition_unsupported` when it turns something on that this gateway does not serve
 */
export function readApi(document: ApiDocument): Api {
  const classic = document.format === 'oas' ? checkedOas(document.definition) : checkedClassic(document.definition)
  return { ...readClassic(classic, document.format), apiId: document.api_id, orgId: document.org_id }
}

function checkedClassic(definition: JsonObject): JsonObject {
  checkBounds(definition)
  refuseFlaws(flawsOf('classic', definition))
  refuseFlaws(classicFlaws(definition))
  refuseWishes([...wishesOf(definition, 'classic'), ...classicWishes(definition)])
  return definition
}

/** The classic reading of an OpenAPI document, after all checks on the document itself. */
function checkedOas(document: JsonObject): JsonObject {
  checkBounds(document)
  refuseFlaws([...flawsOf('openapi', document), ...extensionFlaws(document)])
  const extension = extensionOf(document)!
  refuseFlaws(oasFlaws(document, extension))
  refuseWishes([...wishesOf(extension, 'oas', [EXTENSION]), ...oasWishes(document, extension)])
  const classic = servedClassic(document)
  if (!isEmpty(objectOf(extension, 'classic').kept)) checkCarried(classic)
  return classic
}

/** What a document carries from its classic days went by the checks of its own format. */
function checkCarried(classic: JsonObject): void {
  const root = [EXTENSION, 'classic']
  refuseFlaws(flawsOf('classic', classic, root))
  refuseFlaws(classicFlaws(classic).map(({ at, reason }) => ({ at: [...root, ...at], reason })))
  const wishes = [...wishesOf(classic, 'classic'), ...classicWishes(classic)]
  refuseWishes(wishes.map(({ at, feature }) => ({ at: [...root, ...at], feature })))
}

function extensionFlaws(document: JsonObject): Flaw[] {
  const extension = member(document, EXTENSION)
  if (extension === undefined) return [{ at: [EXTENSION], reason: 'is missing' }]
  return extension === null
    ? [{ at: [EXTENSION], reason: 'must be an object' }]
    : flawsOf('extension', extension, [EXTENSION])
}
