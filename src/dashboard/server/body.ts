import { fault } from '../../errors/fault.ts'

/** Of a form: each costs the reader five microseconds, and nobody sends more than a few. */
const MOST_PARTS = 1000

/** A form with files. */
export interface Upload {
  /** The first file; undefined when there is none. */
  readonly file: Uint8Array | undefined
  readonly fields: URLSearchParams
}

function checkParts(bytes: Uint8Array, contentType: string): void {
  const boundary = /\bboundary="?([^";\s]{1,70})/i.exec(contentType)?.[1]
  if (boundary === undefined) throw fault('body_malformed', 'the form has no boundary')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let parts = 0
  for (let at = text.indexOf(`--${boundary}`); at !== -1; at = text.indexOf(`--${boundary}`, at + boundary.length + 2))
    if (++parts > MOST_PARTS) throw fault('body_malformed', `the form has more than ${MOST_PARTS} parts`)
}

/** Reads a multipart form; a body of another type is the file itself. @throws Fault `body_malformed` */
export async function readUpload(bytes: Uint8Array, contentType: string): Promise<Upload> {
  if (!/^multipart\/form-data\b/i.test(contentType)) return { file: bytes, fields: new URLSearchParams() }
  checkParts(bytes, contentType)
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw fault('body_malformed', 'the form cannot be read')
  }
  const fields = new URLSearchParams()
  let file: Uint8Array | undefined
  for (const [name, value] of form) {
    if (typeof value === 'string') fields.append(name, value)
    else file ??= new Uint8Array(await value.arrayBuffer())
  }
  return { file, fields }
}
