/** A declared path in the words of the router: `/a/{id}` is `/a/:id`. */
export function routerPath(path: string): string {
  return path.replaceAll(/\{([^{}]*)\}/g, ':$1')
}
