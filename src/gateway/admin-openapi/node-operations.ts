import { EXPLANATION } from '../../model/apis/schema/explanation-shape.ts'
import {
  amount,
  arrayOf,
  closedObjectOf,
  flag,
  oneOf,
  openObjectOf,
  said,
  text,
  time,
  whole,
} from '../../model/openapi/plain-schemas.ts'
import { type AdminOperations, Done, inJson, OF_ORGANISATION, PAGE, PAGE_COUNT } from './admin-operation.ts'

const Certificate = closedObjectOf('Certificate', {
  id: text,
  fingerprint: text,
  has_private: flag,
  issuer: text,
  subject: text,
  not_before: time,
  not_after: time,
  dns_names: arrayOf(text),
  is_ca: flag,
})
const texts = { type: 'object', additionalProperties: text }
const BLOCK = { block: said(flag, 'Answers when the reload is done.') }

const Node = closedObjectOf(
  'Node',
  {
    name: text,
    version: text,
    segmented: flag,
    tags: arrayOf(text),
    revision: whole,
    ready: flag,
    behind: said(flag, 'True while the node lags behind the store.'),
    apis: arrayOf(
      closedObjectOf('ApiOnNode', { api_id: text, name: text, state: text, reason: text, revision: whole }),
    ),
  },
  {
    upstreams: arrayOf(
      closedObjectOf('NodeUpstream', {
        api_id: text,
        targets: arrayOf(closedObjectOf('NodeTarget', { target: text, state: oneOf('up', 'down', 'ejected') })),
        breakers: arrayOf(closedObjectOf('NodeBreaker', { operation: text, state: text })),
      }),
    ),
  },
)

/** The node, certificates and health. */
export const NODE_OPERATIONS: AdminOperations = {
  'POST /certs': {
    id: 'createCertificate',
    summary: 'Add a certificate, with its private key where it has one',
    query: OF_ORGANISATION,
    body: { 'application/octet-stream': said({ type: 'string', format: 'binary' }, 'PEM, with any Content-Type.') },
    answer: closedObjectOf(
      'CertificateAdded',
      { id: text, status: oneOf('ok'), message: text },
      { warning: said(text, 'Where the certificate is not valid now.') },
    ),
  },
  'GET /certs': {
    id: 'listCertificates',
    summary: 'List certificates: ids, or with `mode=detailed` what is known of each; a thousand a page',
    query: { ...PAGE, ...OF_ORGANISATION, mode: oneOf('detailed') },
    answer: closedObjectOf('CertificateList', { certs: { anyOf: [arrayOf(text), arrayOf(Certificate)] } }),
    fields: PAGE_COUNT,
  },
  'GET /certs/{id}': {
    id: 'getCertificate',
    summary: 'Get a certificate, or several: the ids parted by commas',
    answer: { anyOf: [Certificate, arrayOf({ anyOf: [Certificate, { type: 'null' }] })] },
  },
  'DELETE /certs/{id}': { id: 'deleteCertificate', summary: 'Delete a certificate', answer: Done },
  'GET /reload': { id: 'reloadNode', summary: 'Read all definitions again on this node', query: BLOCK, answer: Done },
  'GET /reload/group': { id: 'reloadNodeGroup', summary: 'As `GET /reload`', query: BLOCK, answer: Done },
  'GET /node': { id: 'getNode', summary: 'Get the state of this node', answer: Node },
  'DELETE /cache/jwks': { id: 'deleteKeySetCache', summary: 'Read remote key sets again', answer: Done },
  'DELETE /cache/jwks/{api}': {
    id: 'deleteApiKeySetCache',
    summary: 'Read remote key sets again, those of all APIs',
    answer: Done,
  },
  'DELETE /cache/{api}': { id: 'deleteApiCache', summary: 'Delete the stored answers of an API', answer: Done },
  'GET /schema': {
    id: 'getExtensionSchema',
    summary: 'Get the JSON Schema of the extension of OpenAPI documents',
    answer: openObjectOf('ExtensionSchema', { $schema: text }),
  },
  'GET /openapi.json': {
    id: 'getOpenapiDocument',
    summary: 'Get this document',
    answer: openObjectOf('ApiDescription', { openapi: text }),
  },
  'GET /health': 'alias-only',
  'POST /debug': 'alias-only',
  'POST /explain': {
    id: 'explainRequest',
    summary: 'Explain step by step how a request would be handled, without sending it',
    body: inJson(
      closedObjectOf(
        'ExplainRequest',
        { url: said(text, 'Absolute, or a path.') },
        { method: text, headers: texts, address: said(text, 'Address that the request would come from.') },
      ),
    ),
    answer: EXPLANATION,
  },
}

const Health = closedObjectOf('Health', {
  status: oneOf('pass', 'warn', 'fail'),
  version: text,
  description: text,
  details: {
    type: 'object',
    additionalProperties: closedObjectOf(
      'HealthDetail',
      { status: oneOf('pass', 'warn', 'fail'), componentType: oneOf('datastore', 'system'), time },
      { output: text, observedValue: amount, observedUnit: text },
    ),
  },
})

/** Calls beside `/svc/`. */
export const OPEN_OPERATIONS: AdminOperations = {
  'GET /hello': { id: 'getHealth', summary: 'Get the health of the node and of what it depends on', answer: Health },
  'GET /ready': {
    id: 'getReadiness',
    summary: 'Check whether the node takes traffic',
    answer: closedObjectOf(
      'Readiness',
      { status: oneOf('pass', 'warn'), version: text, description: text },
      { output: text },
    ),
    refusals: [503],
  },
  'GET /metrics': {
    id: 'getMetrics',
    summary: 'Get the metrics of the node, in the format of Prometheus',
    answer: text,
    answerType: 'text/plain',
    refusals: [403],
  },
}
