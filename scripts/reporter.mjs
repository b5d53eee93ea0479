// The report of `npm test`: one line a file, every failure in full, and the counts for the caller in GATEHOUSE_COUNTS.
import { writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { inspect } from 'node:util'

/** A reporter for node:test: takes its events, gives text. */
export default async function* report(events) {
  const failures = []
  const files = new Map()
  for await (const { type, data } of events) {
    note(files, type, data)
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message
    else if (type === 'test:fail' && isOwn(data)) {
      failures.push(`${data.name} (${place(data)})`)
      yield failureText(data)
    } else if (type === 'test:summary' && data.file !== undefined) yield fileText(data)
    else if (type === 'test:summary') {
      const silent = [...files].filter(([, { ended }]) => !ended)
      failures.push(...silent.map(([file]) => `${pathOf(file)} ended before its tests did, or has none`))
      writeCounts(data.counts, silent)
      yield `${data.counts.tests} tests in ${(data.duration_ms / 1000).toFixed(1)} s\n`
    }
  }
  for (const failure of failures) yield `failed: ${failure}\n`
}

/**
 * Keeps which files came to their end: only those send a summary. One that exits early with status 0, or has no test,
 * is one passed test to node:test.
 */
function note(files, type, { file, name }) {
  if (file === undefined) return
  const isFile = name !== undefined && resolve(name) === file
  if (type === 'test:enqueue' && isFile) files.set(file, { ended: false, countedAsPassed: false })
  const state = files.get(file)
  if (state === undefined) return
  if (type === 'test:summary' || (type === 'test:fail' && isFile)) state.ended = true
  if (type === 'test:pass' && isFile) state.countedAsPassed = true
}

/** A suite that fails only because of a test within it is not a separate failure. */
function isOwn({ details }) {
  return details.error?.failureType !== 'subtestsFailed'
}

function failureText(data) {
  const { error } = data.details
  const reason = error?.cause instanceof Error ? error.cause : error
  // the message of an assertion shows the difference; actual and expected would be shown again, in full
  const text = reason?.code === 'ERR_ASSERTION' ? reason.stack : inspect(reason, { depth: 6 })
  return `\n✖ ${data.name} (${place(data)})\n${text.replace(/^/gm, '    ')}\n\n`
}

function place({ file, line }) {
  return file === undefined ? 'no file' : `${pathOf(file)}:${line}`
}

/** Below the folder of the project, or the name of a group of files. */
function pathOf(file) {
  return relative(process.cwd(), file).replace(/^.*[\\/]groups[\\/](.*)\.mjs$/, '$1')
}

function fileText({ file, counts, duration_ms: durationMs }) {
  const mark = counts.tests === counts.passed ? '✔' : '✖'
  return `${mark} ${pathOf(file)}  ${counts.passed}/${counts.tests}  ${Math.round(durationMs)} ms\n`
}

/** A skipped test is one that nobody ran: here it counts as failed. */
function writeCounts(counts, silent) {
  const wrongly = silent.filter(([, { countedAsPassed }]) => countedAsPassed).length
  const failed = counts.tests - counts.passed + silent.length
  const path = process.env.GATEHOUSE_COUNTS
  if (path) writeFileSync(path, JSON.stringify({ passed: counts.passed - wrongly, failed }))
}
