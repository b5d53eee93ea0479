// The part of ldapjs that the tests use; it brings no types.
declare module 'ldapjs' {
  interface Name {
    toString(): string
  }
  interface Filter {
    toString(): string
    matches(attributes: object): boolean
  }
  interface Request {
    readonly name: Name
    readonly credentials: string
    readonly filter: Filter
  }
  interface Response {
    send(entry: { dn: string; attributes: object }): void
    end(): void
  }
  type Handler = (request: Request, response: Response, next: (error?: Error) => void) => void
  interface DirectoryServer {
    bind(base: string, handler: Handler): void
    search(base: string, handler: Handler): void
    listen(port: number, host: string, done: () => void): void
    close(done: () => void): void
    address(): { readonly port: number }
  }
  const ldapjs: {
    createServer(options?: { certificate: string; key: string }): DirectoryServer
    parseDN(text: string): Name
    InvalidCredentialsError: new () => Error
  }
  export default ldapjs
}
