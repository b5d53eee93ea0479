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
} from '../../model/openapi/component-schemas.ts'
import { type AdminOperations, Done, inJson, OF_ORGANISATION, PAGE, PAGE_COUNT } from './admin-operation.ts'

const Certificate = closedObjectOf('Certificate', {
  id: said(text, 'Id of the certificate: that of its organisation, then its SHA-256 fingerprint.'),
  fingerprint: said(text, 'SHA-256 fingerprint in hexadecimal digits.'),
  has_private: said(flag, 'True where the private key is stored too.'),
  issuer: said(text, 'Distinguished name of the issuer.'),
  subject: said(text, 'Distinguished name of the subject.'),
  not_before: said(time, 'Start of its validity.'),
  not_after: said(time, 'End of its validity.'),
  dns_names: said(arrayOf(text), 'Host names of the certificate.'),
  is_ca: said(flag, 'True for a certificate of an authority.'),
})
const texts = { type: 'object', additionalProperties: text }
const BLOCK = { block: said(flag, 'Answers when the reload is done.') }

const Node = closedObjectOf(
  'Node',
  {
    name: said(text, 'Name of the node (`gateway.node_name`, else the host name).'),
    version: said(text, 'Version of the product.'),
    segmented: said(flag, 'True: the node loads only APIs with one of its tags.'),
    tags: said(arrayOf(text), 'Tags of the APIs that the node loads, where it is segmented.'),
    revision: said(whole, 'Revision of the store up to which the node has taken over changes.'),
    ready: said(flag, 'True where the node takes traffic.'),
    behind: said(flag, 'True while the node lags behind the store.'),
    apis: said(
      arrayOf(
        closedObjectOf('ApiOnNode', {
          api_id: said(text, 'Id of the API.'),
          name: said(text, 'Name of the API.'),
          state: said(text, 'State of the API on this node.'),
          reason: said(text, 'Why the node does not serve the API as stored. Blank where it does.'),
          revision: said(whole, 'Revision of the definition that is served. 0: none.'),
        }),
      ),
      'APIs of this node, with their states.',
    ),
  },
  {
    upstreams: said(
      arrayOf(
        closedObjectOf('NodeUpstream', {
          api_id: said(text, 'Id of the API.'),
          targets: said(
            arrayOf(
              closedObjectOf('NodeTarget', {
                target: said(text, 'Address of the target.'),
                state: said(
                  oneOf('up', 'down', 'ejected'),
                  '`up`, `down` by a health check, or `ejected` for a while because it failed.',
                ),
              }),
            ),
            'Targets of the upstream that health checks or outlier ejection watch.',
          ),
          breakers: said(
            arrayOf(
              closedObjectOf('NodeBreaker', {
                operation: said(text, 'Operation that the circuit breaker is for.'),
                state: said(text, '`closed`: requests pass. `open`: they are refused. `half-open`: one is tried.'),
              }),
            ),
            'Circuit breakers of the API.',
          ),
        }),
      ),
      'Upstreams with health checks, outlier ejection or circuit breakers.',
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
      {
        id: said(text, 'Id of the certificate, for definitions and settings.'),
        status: said(oneOf('ok'), 'Always `ok`.'),
        message: said(text, 'Outcome, as text for people.'),
      },
      { warning: said(text, 'Where the certificate is not valid now.') },
    ),
  },
  'GET /certs': {
    id: 'listCertificates',
    summary: 'List certificates: ids, or with `mode=detailed` what is known of each; a thousand a page',
    query: { ...PAGE, ...OF_ORGANISATION, mode: oneOf('detailed') },
    answer: closedObjectOf('CertificateList', {
      certs: said(
        { anyOf: [arrayOf(text), arrayOf(Certificate)] },
        'Ids of certificates; with `mode=detailed` what is known of each.',
      ),
    }),
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
    answer: openObjectOf('ExtensionSchema', { $schema: said(text, 'Dialect of JSON Schema.') }),
  },
  'GET /openapi.json': {
    id: 'getOpenapiDocument',
    summary: 'Get this document',
    answer: openObjectOf('ApiDescription', { openapi: said(text, 'Version of OpenAPI.') }),
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
        {
          method: said(text, 'Method of the request. Absent: `GET`.'),
          headers: said(texts, 'Header fields of the request by name.'),
          address: said(text, 'Address that the request would come from.'),
        },
      ),
    ),
    answer: EXPLANATION,
  },
}

const Health = closedObjectOf('Health', {
  status: said(
    oneOf('pass', 'warn', 'fail'),
    '`pass`: all parts pass. `fail`: the node cannot do its work. `warn`: anything else.',
  ),
  version: said(text, 'Version of the product.'),
  description: said(text, 'Name of the product.'),
  details: said(
    {
      type: 'object',
      additionalProperties: closedObjectOf(
        'HealthDetail',
        {
          status: said(
            oneOf('pass', 'warn', 'fail'),
            '`pass`: healthy. `warn`: works, and an operator should look at it. `fail`: does not do its work.',
          ),
          componentType: said(
            oneOf('datastore', 'system'),
            '`datastore`, or `system` for what belongs to the machine or the process.',
          ),
          time: said(time, 'Time of the answer.'),
        },
        {
          output: said(text, 'Why the part does not pass.'),
          observedValue: said(amount, 'Value that was measured. For callers with the secret of the gateway.'),
          observedUnit: said(text, 'Unit of `observedValue`: `s` or `bytes`.'),
        },
      ),
    },
    'The state of each part by its name, such as `store` or `disk`.',
  ),
})

/** Calls beside `/svc/`. */
export const OPEN_OPERATIONS: AdminOperations = {
  'GET /hello': { id: 'getHealth', summary: 'Get the health of the node and of what it depends on', answer: Health },
  'GET /ready': {
    id: 'getReadiness',
    summary: 'Check whether the node takes traffic',
    answer: closedObjectOf(
      'Readiness',
      {
        status: said(oneOf('pass', 'warn'), '`warn` where a part does not pass that the node can do without.'),
        version: said(text, 'Version of the product.'),
        description: said(text, 'Name of the product.'),
      },
      { output: said(text, 'Why a part does not pass.') },
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
