// Generates clients from the published OpenAPI documents, compiles them, and does everyday tasks through one of them.
// CLIENTS_WORLD names the facts about the product; `output` is a folder of its own, with what the steps before have installed.
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const own = import.meta.dirname
const docs = join(own, '../../../docs/generated')
const output = process.env.output ?? ''
const modules = join(output, 'node_modules')
const jars = join(output, 'jars')
const python = join(output, 'python/bin')
const documents = ['openapi', 'svc-openapi'] as const

interface Ended {
  readonly status: number | null
  readonly text: string
}

/** Runs a command to its end, with all that it wrote. */
function run(command: readonly string[], cwd = output, env: Record<string, string> = {}): Promise<Ended> {
  const [program = '', ...words] = command
  const child = spawn(program, words, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: null, text: error.message }))
    child.on('close', (status) => resolve({ status, text }))
  })
}

/** @throws Error with the end of the output where the command failed */
async function done(command: readonly string[], cwd?: string, env?: Record<string, string>): Promise<string> {
  const { status, text } = await run(command, cwd, env)
  if (status !== 0) throw new Error(`${command.slice(0, 4).join(' ')} ended with ${status}: ${text.slice(-2000)}`)
  return text
}

const bin = (name: string) => [process.execPath, join(modules, name)]

async function flow(client: string, name: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
    console.log(JSON.stringify({ client, flow: name }))
  } catch (error) {
    console.log(JSON.stringify({ client, flow: name, failed: error instanceof Error ? error.message : String(error) }))
  }
}

const TYPESCRIPT = {
  ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true, types: [] },
  ...{ lib: ['es2022', 'dom'], allowImportingTsExtensions: true },
}

/** Compiles files of a folder. @throws Error */
async function compileTypescript(folder: string, options: object, files: object): Promise<void> {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...TYPESCRIPT, ...options }, ...files }),
  )
  await done([...bin('typescript/bin/tsc'), '-p', '.'], folder)
}

/**
 * Warnings of `openapi-generator` that the documents do not cause: pages and metrics are texts, some lists hold any value, and one query
 * parameter has the name of a word of Go. */
const ACCEPTED = [
  /ExamplesUtils - No application\/json content media type found/,
  /AbstractPythonCodegen - Codegen property is null/,
  /AbstractGoCodegen - type \(reserved word\) cannot be used as model name/,
  /ModelUtils - Failed to get the schema name: null/,
]

interface Generator {
  readonly name: string
  readonly options: readonly string[]
  readonly compile: (folder: string) => Promise<unknown>
}

const GENERATORS: readonly Generator[] = [
  {
    name: 'java',
    options: ['--library', 'native', '--name-mappings', '_id=storageId', '--parameter-name-mappings', 'p=page'],
    compile: async (folder) => {
      const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.java'),
      )
      writeFileSync(join(folder, 'sources'), sources.join('\n'))
      const flags = ['-J-XX:TieredStopAtLevel=1', '-nowarn', '-proc:none', '-d', 'classes', '-cp', `${jars}/*`]
      await done(['javac', ...flags, '@sources'], folder)
    },
  },
  {
    name: 'typescript-fetch',
    options: ['--name-mappings', '_id=storageId'],
    compile: (folder) =>
      compileTypescript(folder, { module: 'esnext', moduleResolution: 'bundler' }, { include: ['**/*.ts'] }),
  },
  {
    name: 'go',
    options: [
      ...['--name-mappings', '_id=StorageId', '--parameter-name-mappings', 'type=kind'],
      '--additional-properties=withGoMod=false,disallowAdditionalPropertiesIfNotPresent=false',
    ],
    compile: async (folder) => {
      for (const rest of ['test', 'docs']) rmSync(join(folder, rest), { recursive: true, force: true })
      writeFileSync(join(folder, 'go.mod'), 'module generated\n\ngo 1.24\n')
      await done(['go', 'build', '.'], folder)
    },
  },
  {
    name: 'python',
    options: ['--name-mappings', '_id=storage_id'],
    compile: (folder) => done([join(python, 'python'), '-m', 'compileall', '-q', 'openapi_client'], folder),
  },
]

async function generate({ name, options, compile }: Generator, document: string): Promise<void> {
  const folder = join(output, `${name}-${document}`)
  rmSync(folder, { recursive: true, force: true })
  const jar = join(jars, readdirSync(jars).find((file) => file.startsWith('openapi-generator-cli')) ?? '')
  const parts = 'apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false'
  const text = await done([
    ...['java', '-XX:TieredStopAtLevel=1', '-jar', jar, 'generate', '--global-property', parts],
    ...['-g', name, '-i', join(docs, `${document}.json`), '-o', folder, ...options],
  ])
  const warnings = text.split('\n').filter((line) => /\b(?:WARN|ERROR)\b/.test(line))
  const others = warnings.filter((line) => !ACCEPTED.some((accepted) => accepted.test(line)))
  if (others.length > 0) throw new Error(others.slice(0, 5).join('\n'))
  await compile(folder)
}

async function lint(document: string): Promise<void> {
  const file = join(docs, `${document}.json`)
  await flow('@redocly/cli', `${document}.json without a warning`, async () => {
    const config = ['--config', join(own, 'redocly.yaml'), '--format', 'json']
    const text = await done([...bin('@redocly/cli/bin/cli.js'), 'lint', file, ...config])
    const { totals } = JSON.parse(text.slice(text.indexOf('{\n'), text.lastIndexOf('}') + 1)) as {
      totals: { errors: number; warnings: number }
    }
    if (totals.errors + totals.warnings > 0) throw new Error(text.slice(0, 2000))
  })
  await flow('@stoplight/spectral-cli', `${document}.json without a warning`, async () => {
    const rules = ['-r', join(own, 'spectral.yaml'), '--fail-severity', 'hint']
    await done([...bin('@stoplight/spectral-cli/dist/index.js'), 'lint', file, ...rules])
  })
}

async function typedTasks(): Promise<void> {
  for (const document of documents)
    await flow('openapi-typescript', `${document}.json: generate and compile`, async () => {
      const types = join(output, `${document}.d.ts`)
      await done([...bin('openapi-typescript/bin/cli.js'), join(docs, `${document}.json`), '-o', types])
      await compileTypescript(output, {}, { files: [`${document}.d.ts`] })
    })
  copyFileSync(join(own, 'tasks.ts'), join(output, 'tasks.ts'))
  writeFileSync(
    join(output, 'globals.d.ts'),
    "declare module 'node:fs' { export function readFileSync(path: string, encoding: string): string }\n" +
      'declare const process: { env: Record<string, string | undefined> }\n',
  )
  await flow('openapi-typescript', 'a client with twelve tasks compiles', () =>
    compileTypescript(output, {}, { files: ['tasks.ts', 'globals.d.ts'] }),
  )
  const { status, text } = await run([process.execPath, '--no-warnings', 'tasks.ts'])
  process.stdout.write(text)
  if (status !== 0) throw new Error(`the tasks ended with ${status}`)
}

async function goCodegen(document: string): Promise<void> {
  await flow('github.com/oapi-codegen/oapi-codegen/v2', `${document}.json: generate and compile`, async () => {
    const folder = join(output, 'oapi', document.replace('-', ''))
    mkdirSync(folder, { recursive: true })
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(own, file), join(output, 'oapi', file))
    const named = ['-generate', 'types,client', '-package', 'client', '-o', join(folder, 'client.go')]
    const text = await done([join(output, 'oapi-codegen'), ...named, join(docs, `${document}.json`)])
    if (text !== '') throw new Error(text)
    await done(['go', 'build', '-mod=mod', `./${document.replace('-', '')}`], join(output, 'oapi'))
  })
}

async function pythonClient(document: string): Promise<void> {
  await flow('openapi-python-client', `${document}.json: generate and compile`, async () => {
    const folder = join(output, `opc-${document}`)
    const command = [join(python, 'openapi-python-client'), 'generate', '--overwrite', '--meta', 'none']
    const PATH = `${python}:${process.env.PATH}`
    const text = await done([...command, '--path', join(docs, `${document}.json`), '--output-path', folder], output, {
      PATH,
    })
    // It does not know the media type of SAML metadata.
    const flaws = text.split('\n').filter((line) => /Unsupported|WARNING|ERROR|Skipping|Unable/i.test(line))
    const others = flaws.filter((line) => !/samlmetadata|saml\/metadata|^Warning\(s\) encountered/.test(line))
    if (others.length > 0) throw new Error(`${others.slice(0, 5).join('\n')}\n${text.slice(0, 1500)}`)
    await done([join(python, 'python'), '-m', 'compileall', '-q', folder])
  })
}

/** Two at a time: most of them use one core. */
async function inPairs(acts: readonly (() => Promise<void>)[]): Promise<void> {
  const rest = [...acts]
  const work = async () => {
    for (let act = rest.shift(); act !== undefined; act = rest.shift()) await act()
  }
  await Promise.all([work(), work()])
}

if (!existsSync(modules)) throw new Error(`${modules} is not there`)
await inPairs([
  typedTasks,
  ...documents.flatMap((document) =>
    GENERATORS.map((generator) => () => {
      const name = `${document}.json to ${generator.name}: generate and compile`
      return flow('openapi-generator-cli', name, () => generate(generator, document))
    }),
  ),
  ...documents.flatMap((document) => [() => lint(document), () => goCodegen(document), () => pythonClient(document)]),
])
