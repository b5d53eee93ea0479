import { Type } from 'typebox'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { RecordRow } from '../../store/ports/records.ts'
import { csvLine } from '../routes/csv.ts'
import { moment } from '../routes/text-forms.ts'

const DAY_MS = 86_400_000

const text = Type.String()

/** One request as callers see it. The names are those that clients read. */
export const LogRecord = Type.Object(
  {
    Method: Type.String({ description: 'Method of the request.' }),
    Host: Type.String({ description: 'Host that the request named.' }),
    Path: Type.String({ description: 'Path of the request, without the query.' }),
    RawPath: Type.String({ description: 'Path and query as they were sent, without secrets.' }),
    ContentLength: Type.Integer({ description: 'Size of the request body in bytes; -1 for an unknown length.' }),
    UserAgent: Type.String({ description: '`User-Agent` of the request.' }),
    Day: Type.Integer({ description: 'Day of the month in UTC, 1 to 31.' }),
    Month: Type.Integer({ description: 'Month in UTC, 1 to 12.' }),
    Year: Type.Integer({ description: 'Year in UTC.' }),
    Hour: Type.Integer({ description: 'Hour of the day in UTC, 0 to 23.' }),
    ResponseCode: Type.Integer({ description: 'Status code of the response.' }),
    APIKey: Type.String({ description: 'Hash of the key or token.' }),
    TimeStamp: moment('Time of the request (RFC 3339).'),
    APIVersion: Type.String({ description: 'Name of the version of the API.' }),
    APIName: Type.String({ description: 'Name of the API at that time.' }),
    APIID: Type.String({ description: 'Id of the API.' }),
    OrgID: Type.String({ description: 'Id of the organisation.' }),
    OauthID: Type.String({ description: 'Client id of the OAuth client.' }),
    RequestTime: Type.Integer({ description: 'Whole milliseconds from request to response.' }),
    Latency: Type.Object(
      {
        Total: Type.Integer({ description: 'Whole milliseconds from request to response.' }),
        Upstream: Type.Integer({ description: 'Whole milliseconds that the upstream took.' }),
        Gateway: Type.Integer({ description: 'Whole milliseconds that the gateway took itself.' }),
      },
      { description: 'How long the request took.' },
    ),
    RawRequest: Type.String({ description: 'The request in base64, where it was recorded whole.' }),
    RawResponse: Type.String({ description: 'The response in base64, where it was recorded whole.' }),
    IPAddress: Type.String({ description: 'IP address of the caller, as trusted proxies say.' }),
    Geo: Type.Object(
      {
        Country: Type.Object(
          { ISOCode: Type.String({ description: 'Country (ISO 3166-1 alpha-2). Blank: not known.' }) },
          { description: 'Country of the caller.' },
        ),
        City: Type.Object(
          {
            GeoNameID: Type.Integer({ description: 'Id of the city at GeoNames. 0: not known.' }),
            Names: Type.Record(text, text, { description: 'Name of the city by language.' }),
          },
          { description: 'City of the caller.' },
        ),
        Location: Type.Object(
          {
            Latitude: Type.Number({ description: 'Latitude in degrees. 0: not known.' }),
            Longitude: Type.Number({ description: 'Longitude in degrees. 0: not known.' }),
            TimeZone: Type.String({ description: 'Time zone (IANA). Blank: not known.' }),
          },
          { description: 'Place of the caller, as exact as the database knows it.' },
        ),
      },
      { description: 'Where the caller is, by the geographic database; blank members without one.' },
    ),
    Network: Type.Object(
      {
        BytesIn: Type.Integer({ description: 'Size of the request in bytes.' }),
        BytesOut: Type.Integer({ description: 'Size of the response in bytes.' }),
      },
      { description: 'Amount of data.' },
    ),
    Tags: Type.Array(text, { description: 'Tags of the request, such as those of its key.' }),
    Alias: Type.String({ description: 'Alias of the key.' }),
    TrackPath: Type.Boolean({ description: 'True for a request of a tracked endpoint.' }),
    ExpireAt: moment('Time at which the record is deleted (RFC 3339).'),
    RequestID: Type.String({ description: 'Id of the request, as in the answer.' }),
    ErrorCode: Type.String({
      description:
        'Why the gateway refused, what failed, or who ended the request before its answer was complete (`cut_by_client`, `cut_by_upstream`, `cut_by_stop`, `cut_by_timeout`, `cut_by_revoked`, `cut_by_goaway`).',
    }),
    ErrorBody: Type.String({ description: 'What the gateway answered where it refused or failed, without secrets.' }),
    Steps: Type.Array(
      Type.Object({
        Name: Type.String({ description: 'Name of the step, as in the explain call.' }),
        AtMs: Type.Number({ description: 'Milliseconds from the start of the request to the start of the step.' }),
        Ms: Type.Number({ description: 'Milliseconds that the step took.' }),
      }),
      {
        description:
          'The steps of the gateway that the request passed, in order, with when they began and how long they took; the last one ended it, by a refusal or by handing it to the upstream. Empty where the request was not timed.',
      },
    ),
  },
  { title: 'LogRecord' },
)

/** A record as callers see it; `keptDays` = how long records are kept. */
export function logRecordOf(row: RecordRow, keptDays: number): JsonObject {
  const { fields, at } = row
  const day = new Date(at)
  const latency = objectAt(fields, 'latency')
  const geo = objectAt(fields, 'geo')
  const city = stringAt(geo, 'city_name')
  return {
    Method: row.method,
    Host: stringAt(fields, 'host'),
    Path: row.path,
    RawPath: stringAt(fields, 'raw_path'),
    ContentLength: numberAt(fields, 'content_length'),
    UserAgent: stringAt(fields, 'user_agent'),
    Day: day.getUTCDate(),
    Month: day.getUTCMonth() + 1,
    Year: day.getUTCFullYear(),
    Hour: day.getUTCHours(),
    ResponseCode: row.status,
    APIKey: row.keyHash,
    TimeStamp: day.toISOString(),
    APIVersion: stringAt(fields, 'api_version'),
    APIName: stringAt(fields, 'api_name'),
    APIID: row.apiId,
    OrgID: row.orgId,
    OauthID: row.clientId,
    RequestTime: numberAt(fields, 'request_time'),
    Latency: {
      Total: numberAt(latency, 'total'),
      Upstream: numberAt(latency, 'upstream'),
      Gateway: numberAt(latency, 'gateway'),
    },
    RawRequest: base64(row.detail?.request),
    RawResponse: base64(row.detail?.response),
    IPAddress: stringAt(fields, 'ip_address'),
    Geo: {
      Country: { ISOCode: stringAt(geo, 'country') },
      City: { GeoNameID: numberAt(geo, 'city'), Names: city === '' ? {} : { en: city } },
      Location: {
        Latitude: numberAt(geo, 'latitude'),
        Longitude: numberAt(geo, 'longitude'),
        TimeZone: stringAt(geo, 'time_zone'),
      },
    },
    Network: { BytesIn: numberAt(fields, 'bytes_in'), BytesOut: numberAt(fields, 'bytes_out') },
    Tags: row.tags === '' ? [] : row.tags.split(','),
    Alias: stringAt(fields, 'alias'),
    TrackPath: fields.track_path === true,
    ExpireAt: new Date(at + keptDays * DAY_MS).toISOString(),
    RequestID: requestIdOf(row),
    ErrorCode: stringAt(fields, 'error_code'),
    ErrorBody: stringAt(fields, 'error_body'),
    Steps: stepsOf(fields),
  }
}

/** Records of a program of the version before have it among their other fields. */
function requestIdOf({ requestId, fields }: RecordRow): string {
  return requestId || stringAt(fields, 'request_id')
}

function stepsOf({ steps }: JsonObject): JsonObject[] {
  if (!Array.isArray(steps)) return []
  return steps.flatMap((step) => {
    if (!Array.isArray(step)) return []
    const [name, at, took] = step
    return [{ Name: String(name), AtMs: Number(at) / 1000, Ms: Number(took) / 1000 }]
  })
}

type Cell = (row: RecordRow) => string | number

const field =
  (name: string): Cell =>
  ({ fields }) =>
    stringAt(fields, name)

const COLUMNS: readonly (readonly [name: string, cell: Cell])[] = [
  ['TimeStamp', ({ at }) => new Date(at).toISOString()],
  ['Method', ({ method }) => method],
  ['Host', field('host')],
  ['Path', ({ path }) => path],
  ['RawPath', field('raw_path')],
  ['ResponseCode', ({ status }) => status],
  ['RequestTime', ({ fields }) => numberAt(fields, 'request_time')],
  ['UpstreamTime', ({ fields }) => numberAt(objectAt(fields, 'latency'), 'upstream')],
  ['APIID', ({ apiId }) => apiId],
  ['APIName', field('api_name')],
  ['APIVersion', field('api_version')],
  ['APIKey', ({ keyHash }) => keyHash],
  ['Alias', field('alias')],
  ['OauthID', ({ clientId }) => clientId],
  ['OrgID', ({ orgId }) => orgId],
  ['IPAddress', field('ip_address')],
  ['Country', ({ fields }) => stringAt(objectAt(fields, 'geo'), 'country')],
  ['UserAgent', field('user_agent')],
  ['ContentLength', ({ fields }) => numberAt(fields, 'content_length')],
  ['Tags', ({ tags }) => tags],
  ['RequestID', requestIdOf],
  ['ErrorCode', field('error_code')],
]

/** Records as CSV, in batches, after a line of names. */
export async function* logCsv(batches: AsyncIterable<readonly RecordRow[]>): AsyncIterable<string> {
  yield csvLine(COLUMNS.map(([name]) => name))
  for await (const batch of batches) yield batch.map((row) => csvLine(COLUMNS.map(([, cell]) => cell(row)))).join('')
}

function base64(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function objectAt(from: JsonObject, name: string): JsonObject {
  const value: Json | undefined = from[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

function stringAt(from: JsonObject, name: string): string {
  const value = from[name]
  return typeof value === 'string' ? value : ''
}

function numberAt(from: JsonObject, name: string): number {
  const value = from[name]
  return typeof value === 'number' ? value : 0
}
