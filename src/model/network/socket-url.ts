/** An upstream that listens on a Unix socket. */
export interface SocketUrl {
  /** Of the socket, absolute. */
  readonly path: string
  /** In front of the paths of requests; '' or with a slash at its beginning. */
  readonly basePath: string
}

/** Longest path of a socket, in bytes, that systems take (`sun_path`, without its last byte). */
const MAX_SOCKET_PATH_BYTES = 103

/** Reads `unix:/run/app.sock`, or `unix:/run/app.sock:/base/path`; undefined for anything else. */
export function readSocketUrl(text: string): SocketUrl | undefined {
  const [, path, basePath = ''] = /^unix:(\/[^\s:?#\\]+)(?::(\/[^\s?#\\]*))?$/.exec(text) ?? []
  if (path === undefined || Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) return undefined
  if (basePath !== '' && URL.parse(`http://localhost${basePath}`)?.pathname !== basePath) return undefined
  return { path, basePath }
}
