import { CLASSIC_SHAPE, OAS_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import {
  arrayOf,
  closedObjectOf,
  flag,
  oneOf,
  openObjectOf,
  said,
  text,
} from '../../model/openapi/component-schemas.ts'
import {
  type AdminOperations,
  changedObject,
  inJson,
  OF_ORGANISATION,
  PAGE,
  PAGE_COUNT,
  WARNING_LIST,
} from './admin-operation.ts'

const ApiSaved = changedObject('ApiSaved', ['added', 'modified', 'deleted'], {
  warnings: said(WARNING_LIST, 'Members of the definition without effect.'),
})
const VERSION_OF = {
  base_api_id: said(text, 'API that the new one becomes a version of.'),
  base_api_version_name: said(text, 'Version name of the base API, where it has none.'),
  new_version_name: said(text, 'Version name of the new API.'),
  set_default: said(flag, 'Makes it the default version.'),
}
const VIEW = { mode: said(oneOf('public'), 'Leaves the extension out.') }
const truth = oneOf('true', 'false')
/** Parameters by which an import sets members of the definition. */
const IMPORT = {
  listenPath: text,
  upstreamURL: text,
  customDomain: text,
  apiID: said(text, 'Id of the new API.'),
  authentication: truth,
  allowList: truth,
  validateRequest: truth,
  mockResponse: truth,
}
const ApiVersions = closedObjectOf('ApiVersions', {
  status: said(oneOf('success'), 'Always `success`.'),
  apis: said(
    arrayOf(
      closedObjectOf('ApiVersion', {
        id: said(text, 'Id of the API.'),
        name: said(text, 'Name of the API.'),
        versionName: said(text, 'Name of the API as a version. Blank where it has none.'),
        internal: said(flag, 'True for a version that only other APIs reach.'),
        expirationDate: said(text, 'RFC 3339; empty: none.'),
        isDefaultVersion: said(flag, 'True for the version that serves requests which name none.'),
      }),
    ),
    'The base API and its versions.',
  ),
})
const Plain = openObjectOf(
  'OpenapiDocument',
  {
    openapi: said(text, 'Version of OpenAPI: 3.0, 3.1 or 3.2.'),
    info: said(
      openObjectOf('OpenapiInfo', {
        title: said(text, 'Name of the API.'),
        version: said(text, 'Version of the document.'),
      }),
      'Facts about the API.',
    ),
  },
  {
    paths: said({ type: 'object', additionalProperties: true }, 'Paths of the document.'),
    components: said({ type: 'object', additionalProperties: true }, 'Components of the document.'),
  },
)
/** Generators of Python know no media type of YAML, and would leave the call out. */
const YAML_TOO = 'Takes YAML, too, where the Content-Type says so.'
const BASE = { 'x-svc-base-api-id': 'API that this one is a version of.' }
const FILE = { 'Content-Disposition': 'Names a file.' }

/** APIs, in OpenAPI and in classic format. */
export const API_OPERATIONS: AdminOperations = {
  'GET /apis/oas': {
    id: 'listOpenapiApis',
    summary: 'List the APIs in OpenAPI format',
    query: { ...PAGE, ...OF_ORGANISATION, ...VIEW },
    answer: arrayOf(OAS_SHAPE),
    fields: PAGE_COUNT,
  },
  'POST /apis/oas': {
    id: 'createOpenapiApi',
    summary: 'Create an API from an OpenAPI document with the extension',
    query: VERSION_OF,
    description: YAML_TOO,
    body: inJson(OAS_SHAPE),
    answer: ApiSaved,
  },
  'GET /apis/oas/export': {
    id: 'exportOpenapiApis',
    summary: 'Download the APIs in OpenAPI format',
    query: { ...PAGE, ...OF_ORGANISATION, ...VIEW },
    answer: arrayOf(OAS_SHAPE),
    fields: { ...PAGE_COUNT, ...FILE },
  },
  'POST /apis/oas/import': {
    id: 'importOpenapiApi',
    summary: 'Create an API from a plain OpenAPI document',
    query: { ...VERSION_OF, ...IMPORT },
    description: YAML_TOO,
    body: inJson(Plain),
    answer: ApiSaved,
  },
  'GET /apis/oas/{api}': {
    id: 'getOpenapiApi',
    summary: 'Get an API in OpenAPI format',
    query: VIEW,
    answer: OAS_SHAPE,
    fields: BASE,
  },
  'PUT /apis/oas/{api}': {
    id: 'updateOpenapiApi',
    summary: 'Replace an API in OpenAPI format',
    description: YAML_TOO,
    body: inJson(OAS_SHAPE),
    answer: ApiSaved,
  },
  'PATCH /apis/oas/{api}': {
    id: 'patchOpenapiApi',
    summary: 'Replace the OpenAPI document of an API and keep its extension, with what the query sets in it',
    query: IMPORT,
    description: YAML_TOO,
    body: inJson(Plain),
    answer: ApiSaved,
  },
  'DELETE /apis/oas/{api}': { id: 'deleteOpenapiApi', summary: 'Delete an API', answer: ApiSaved },
  'GET /apis/oas/{api}/export': {
    id: 'exportOpenapiApi',
    summary: 'Download an API in OpenAPI format',
    query: VIEW,
    answer: OAS_SHAPE,
    fields: FILE,
  },
  'GET /apis/oas/{api}/versions': {
    id: 'listOpenapiApiVersions',
    summary: 'List an API in OpenAPI format and its versions',
    answer: ApiVersions,
  },
  'GET /apis': {
    id: 'listApis',
    summary: 'List the APIs in classic format; of those in OpenAPI format the classic members',
    query: { ...PAGE, ...OF_ORGANISATION },
    answer: arrayOf(CLASSIC_SHAPE),
    fields: PAGE_COUNT,
  },
  'POST /apis': {
    id: 'createApi',
    summary: 'Create an API from a classic definition',
    query: VERSION_OF,
    body: inJson(CLASSIC_SHAPE),
    answer: ApiSaved,
  },
  'GET /apis/{api}': {
    id: 'getApi',
    summary: 'Get an API in classic format',
    answer: CLASSIC_SHAPE,
    fields: BASE,
  },
  'PUT /apis/{api}': {
    id: 'updateApi',
    summary: 'Replace an API in classic format',
    body: inJson(CLASSIC_SHAPE),
    answer: ApiSaved,
  },
  'DELETE /apis/{api}': { id: 'deleteApi', summary: 'Delete an API of either format', answer: ApiSaved },
  'GET /apis/{api}/versions': {
    id: 'listApiVersions',
    summary: 'List an API of either format and its versions',
    answer: ApiVersions,
  },
}
