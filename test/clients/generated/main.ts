// Generates clients from the published OpenAPI documents, compiles them, and does everyday tasks through several of them.
// CLIENTS_WORLD names the facts about the product; `output` is a folder of its own, with what the steps before have installed.
import { spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const own = import.meta.dirname
const docs = join(own, '../../../docs/generated')
const output = process.env.output ?? ''
const modules = join(output, 'node_modules')
const jars = join(output, 'jars')
const python = join(output, 'python/bin')
const DASHBOARD = 'openapi'
const documents = [DASHBOARD, 'svc-openapi'] as const

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
 * Warnings of `openapi-generator` that the documents do not cause: pages and metrics are texts, some lists hold any value, one query
 * parameter and the members `error` and `from` have names that Go or Python take for their own. The generator for Java has no use for
 * examples of bodies.
 */
const ACCEPTED = [
  /ExamplesUtils - No application\/json content media type found/,
  /AbstractPythonCodegen - Codegen property is null/,
  /AbstractGoCodegen - type \(reserved word\) cannot be used as model name/,
  /AbstractGoCodegen - error \(reserved word\) cannot be used as parameter name/,
  /AbstractPythonCodegen - From \(reserved word\) cannot be used as model name/,
  /ModelUtils - Failed to get the schema name: null/,
  /AbstractJavaCodegen - Ignoring complex example on request body/,
]

interface Generator {
  readonly name: string
  readonly options: readonly string[]
  readonly compile: (folder: string) => Promise<unknown>
  /** Everyday tasks through the client of the dashboard's document: what is compiled with it, and the command. */
  readonly tasks?: { readonly source: string; readonly command: readonly string[] }
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
    tasks: { source: 'Tasks.java', command: ['java', '-XX:TieredStopAtLevel=1', '-cp', `classes:${jars}/*`, 'Tasks'] },
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
    tasks: { source: 'openapi_generator_tasks.py', command: [join(python, 'python'), 'openapi_generator_tasks.py'] },
  },
]

async function generate({ name, options, compile, tasks }: Generator, document: string): Promise<void> {
  const folder = folderOf(name, document)
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
  if (tasks !== undefined && document === DASHBOARD) copyFileSync(join(own, tasks.source), join(folder, tasks.source))
  await compile(folder)
}

const folderOf = (name: string, document: string) => join(output, `${name}-${document}`)

/** Runs a program that does the tasks, each of which is a line of its output. @throws Error where it fails besides */
async function runTasks(command: readonly string[], cwd = output): Promise<void> {
  const { status, text } = await run(command, cwd)
  process.stdout.write(text)
  if (status !== 0) throw new Error(`${command.at(-1)} ended with ${status}`)
}

/** Generates and compiles a client, and does the tasks through it. */
async function generateAndDo(generator: Generator, name: string, document: string): Promise<void> {
  await flow('openapi-generator-cli', name, () => generate(generator, document))
  if (document !== DASHBOARD || generator.tasks === undefined) return
  await runTasks(generator.tasks.command, folderOf(generator.name, document))
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
  await runTasks([process.execPath, '--no-warnings', 'tasks.ts'])
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
  if (document !== DASHBOARD) return
  await flow('github.com/oapi-codegen/oapi-codegen/v2', 'a client with twelve tasks compiles', async () => {
    copyFileSync(join(own, 'tasks.go'), join(output, 'oapi/tasks.go'))
    await done(['go', 'build', '-mod=mod', '-o', 'tasks', 'tasks.go'], join(output, 'oapi'))
  })
  await runTasks([join(output, 'oapi/tasks')])
}

/** The document as openapi-python-client knows it: of a type beside `nullable` and `allOf` it makes an object that is never null. */
function withoutNullableTypes(document: string): string {
  const text = readFileSync(join(docs, `${document}.json`), 'utf8')
  const file = join(output, `opc-${document}.json`)
  const plain = (_name: string, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('nullable' in value && 'allOf' in value)) return value
    const { type: _type, ...rest } = value as Record<string, unknown>
    return rest
  }
  writeFileSync(file, JSON.stringify(JSON.parse(text, plain)))
  return file
}

async function pythonClient(document: string): Promise<void> {
  await flow('openapi-python-client', `${document}.json: generate and compile`, async () => {
    const folder = join(output, `opc-${document}`)
    const command = [join(python, 'openapi-python-client'), 'generate', '--overwrite', '--meta', 'none']
    const PATH = `${python}:${process.env.PATH}`
    const text = await done([...command, '--path', withoutNullableTypes(document), '--output-path', folder], output, {
      PATH,
    })
    // It does not know the media type of SAML metadata.
    const flaws = text.split('\n').filter((line) => /Unsupported|WARNING|ERROR|Skipping|Unable/i.test(line))
    const others = flaws.filter((line) => !/samlmetadata|saml\/metadata|^Warning\(s\) encountered/.test(line))
    if (others.length > 0) throw new Error(`${others.slice(0, 5).join('\n')}\n${text.slice(0, 1500)}`)
    await done([join(python, 'python'), '-m', 'compileall', '-q', folder])
  })
  if (document !== DASHBOARD) return
  // The package is named as its folder.
  const folder = join(output, 'opc-tasks')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  renameSync(join(output, `opc-${document}`), join(folder, 'client'))
  copyFileSync(join(own, 'openapi_python_client_tasks.py'), join(folder, 'tasks.py'))
  await runTasks([join(python, 'python'), 'tasks.py'], folder)
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
      return generateAndDo(generator, name, document)
    }),
  ),
  ...documents.flatMap((document) => [() => lint(document), () => goCodegen(document), () => pythonClient(document)]),
])
