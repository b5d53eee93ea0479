/** Registered reasons (RFC 9110 section 15 and the registry). Written out: `STATUS_CODES` would load all of node:http, 5 MB of heap. */
const REASONS: Readonly<Record<number, string>> = {
  100: 'Continue',
  101: 'Switching Protocols',
  102: 'Processing',
  103: 'Early Hints',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'Non-Authoritative Information',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  207: 'Multi-Status',
  208: 'Already Reported',
  226: 'IM Used',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  305: 'Use Proxy',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  418: "I'm a Teapot",
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  506: 'Variant Also Negotiates',
  507: 'Insufficient Storage',
  508: 'Loop Detected',
  511: 'Network Authentication Required',
}

const LINES: readonly string[] = Array.from({ length: 1000 }, (_, status) => {
  return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n`
})

/** The status line of an answer, with the registered reason. */
export function statusLine(status: number): string {
  return LINES[status] ?? LINES[500]!
}

const GRPC_ANSWER = /^Content-Type: application\/grpc(?:\r|-web)/

/** The status on the wire: to callers of gRPC and gRPC-Web each answer is 200, and its trailers say what became of the call. Records keep the status. */
export function sentStatus(status: number, fields: string): number {
  return GRPC_ANSWER.test(fields) ? 200 : status
}

/** Module state: the text of the present second, the same for every answer. */
let dateSecond = 0
let dateText = ''

/** The Date field of now (RFC 9110 section 6.6.1); its text is made once a second. */
export function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return dateText
}

/** The Connection field that tells an HTTP/1.1 or HTTP/1.0 client what happens next; '' where the default says it. */
export function connectionLine(http11: boolean, keep: boolean): string {
  if (http11) return keep ? '' : 'Connection: close\r\n'
  return keep ? 'Connection: keep-alive\r\n' : ''
}

/** The lines of lengths that are frequent, made once. */
const LENGTHS: readonly string[] = Array.from({ length: 1024 }, (_, bytes) => `Content-Length: ${bytes}\r\n`)

/** The Content-Length field of a body of so many bytes. */
export function lengthLine(bytes: number): string {
  return LENGTHS[bytes] ?? `Content-Length: ${bytes}\r\n`
}

/** True when an answer with this status never has a body (RFC 9112 section 6.3). */
export function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304
}
